import COpenSSL
import Foundation
import OpenSSLClient

/// TLS of a `LoopbackServer`.
///
/// `@unchecked Sendable`: threads only make sessions of the context, which the library permits (openssl-threads(7)).
final class LoopbackTLS: @unchecked Sendable {
    /// One connection's.
    final class Session {
        private let session: OpaquePointer

        fileprivate init(_ session: OpaquePointer) { self.session = session }

        deinit { SSL_free(session) }

        func read(_ bytes: UnsafeMutableRawBufferPointer) -> Int {
            Int(SSL_read(session, bytes.baseAddress, Int32(bytes.count)))
        }

        func write(_ bytes: UnsafeRawBufferPointer) -> Int {
            Int(SSL_write(session, bytes.baseAddress, Int32(bytes.count)))
        }

        func end() { SSL_shutdown(session) }
    }

    private let context: OpaquePointer

    init(_ certificate: BareCertificate) throws {
        // Writes to a closed connection, which are the library's own.
        signal(SIGPIPE, SIG_IGN)
        guard let context = SSL_CTX_new(TLS_server_method()) else {
            throw LoopbackServer.NotOpen(reason: "no memory")
        }
        self.context = context
        guard SSL_CTX_use_certificate(context, certificate.certificate) == 1,
            SSL_CTX_use_PrivateKey(context, certificate.key) == 1
        else {
            throw LoopbackServer.NotOpen(reason: "the certificate cannot be used")
        }
    }

    deinit { SSL_CTX_free(context) }

    /// Nil if the client refuses.
    func accept(_ socket: Int32) -> Session? {
        guard let session = SSL_new(context) else { return nil }
        guard SSL_set_fd(session, socket) == 1, SSL_accept(session) == 1 else {
            SSL_free(session)
            return nil
        }
        return Session(session)
    }
}
