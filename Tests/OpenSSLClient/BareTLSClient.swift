internal import COpenSSL
package import NIOCore

/// OpenSSL as a client of HTTPS may use it, with the settings that a test wants.
package final class BareTLSClient {
    /// The numbers of versions (RFC 8446, section 4.1.2).
    package enum Version {
        package static let tls11: Int32 = 0x0302
        package static let tls12: Int32 = 0x0303
        package static let tls13: Int32 = 0x0304
    }

    package struct Options {
        package var version: Int32
        /// The names that ALPN offers.
        package var protocols: [String]
        /// True to accept only certificates that the system knows.
        package var verifies: Bool

        package init(version: Int32 = Version.tls13, protocols: [String] = [], verifies: Bool = false) {
            self.version = version
            self.protocols = protocols
            self.verifies = verifies
        }
    }

    private let context: OpaquePointer
    private let ssl: OpaquePointer
    private let incoming: OpaquePointer
    private let outgoing: OpaquePointer
    /// The secret that the keys for the client's data are made of, in version 1.3.
    private(set) var trafficSecret: [UInt8]?

    package init(_ options: Options = Options()) throws {
        context = try BareCertificate.require(SSL_CTX_new(TLS_client_method()), "context")
        SSL_CTX_set_security_level(context, 0)
        SSL_CTX_set_cipher_list(context, "DEFAULT:@SECLEVEL=0")
        SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(options.version), nil)
        SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(options.version), nil)
        let names = options.protocols.flatMap { [UInt8($0.utf8.count)] + $0.utf8 }
        if !names.isEmpty { SSL_CTX_set_alpn_protos(context, names, UInt32(names.count)) }
        SSL_CTX_set_verify(context, options.verifies ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nil)
        ssl = try BareCertificate.require(SSL_new(context), "session")
        incoming = try BareCertificate.require(BIO_new(BIO_s_mem()), "BIO")
        outgoing = try BareCertificate.require(BIO_new(BIO_s_mem()), "BIO")
        SSL_set_bio(ssl, incoming, outgoing)
        SSL_set_connect_state(ssl)
        SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque())
        SSL_CTX_set_keylog_callback(context) { ssl, line in
            guard let client = SSL_get_ex_data(ssl, 0), let line else { return }
            let words = String(cString: line).split(separator: " ")
            guard words.count == 3, words[0] == "CLIENT_TRAFFIC_SECRET_0" else { return }
            let digits = Array(words[2])
            Unmanaged<BareTLSClient>.fromOpaque(client).takeUnretainedValue().trafficSecret = stride(
                from: 0, to: digits.count - 1, by: 2
            ).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
        }
    }

    deinit {
        SSL_free(ssl)
        SSL_CTX_free(context)
    }

    package var isEstablished: Bool { SSL_is_init_finished(ssl) == 1 }

    /// True once the server has ended its direction by `close_notify`. The library counts an alert as an end, too.
    package var hasSeenClose: Bool { receivedAlert == nil && SSL_get_shutdown(ssl) & SSL_RECEIVED_SHUTDOWN != 0 }

    /// True if the server made it possible to resume the session.
    package var isResumable: Bool { SSL_SESSION_is_resumable(SSL_get_session(ssl)) == 1 }

    /// Certificates that the server has shown.
    package var certificateCount: Int { Int(OPENSSL_sk_num(SSL_get_peer_cert_chain(ssl))) }

    /// The last alert that the server has sent.
    package private(set) var receivedAlert: Int32?

    /// The protocol that the server chose by ALPN.
    package var selectedProtocol: String? {
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &name, &count)
        return name.map { String(decoding: UnsafeBufferPointer(start: $0, count: Int(count)), as: UTF8.self) }
    }

    /// Goes on with the handshake.
    package func advance() { note { SSL_do_handshake(ssl) } }

    package func write(_ bytes: [UInt8]) { note { SSL_write(ssl, bytes, Int32(bytes.count)) } }

    package func close() { note { SSL_shutdown(ssl) } }

    /// Renews the keys, and asks the server to do the same.
    package func renewKeys() {
        note { SSL_key_update(ssl, SSL_KEY_UPDATE_REQUESTED) }
        advance()
    }

    /// Asks for new keys in the way of TLS 1.2.
    package func renegotiate() {
        note { SSL_renegotiate(ssl) }
        advance()
    }

    /// Takes bytes from the server; gives back what they say.
    package func receive(_ bytes: ByteBuffer) -> [UInt8] {
        bytes.withUnsafeReadableBytes { bytes in
            _ = BIO_write(incoming, bytes.baseAddress, Int32(bytes.count))
        }
        if !isEstablished { advance() }
        var plaintext: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 16_384)
        while isEstablished {
            let count = note { SSL_read(ssl, &part, Int32(part.count)) }
            guard count > 0 else { break }
            plaintext += part.prefix(Int(count))
        }
        return plaintext
    }

    /// Takes all bytes to the server.
    package func takeOutgoing() -> ByteBuffer {
        var bytes = ByteBuffer()
        var part = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = BIO_read(outgoing, &part, Int32(part.count))
            guard count > 0 else { return bytes }
            bytes.writeBytes(part.prefix(Int(count)))
        }
    }

    @discardableResult
    private func note(_ body: () -> Int32) -> Int32 {
        ERR_clear_error()
        let result = body()
        let reason = shim_ERR_GET_REASON(ERR_peek_error())
        if reason > SSL_AD_REASON_OFFSET { receivedAlert = reason - SSL_AD_REASON_OFFSET }
        ERR_clear_error()
        return result
    }
}
