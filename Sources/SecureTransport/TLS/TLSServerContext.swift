internal import COpenSSL

/// The certificate that HTTPS is served with, its key, and all that connections have in common.
///
/// The versions are TLS 1.2 and newer ones in the library. A client that names protocols (ALPN) has to name `http/1.1`
/// or `http/1.0`: the others end with the alert `no_application_protocol` (RFC 7301, section 3.2).
///
/// `@unchecked Sendable`: the library's object changes only in the initializer; afterwards connections only count
/// references, atomically, and read (openssl-threads(7)).
public final class TLSServerContext: @unchecked Sendable {
    /// The first and last second in which the certificate is valid, since 1970; nil if it does not say.
    public let notBefore: Int64?
    public let notAfter: Int64?

    /// The `SSL_CTX *`.
    let context: OpaquePointer

    /// Reads the certificate, followed by its chain, and its key, both in PEM, and checks that they belong together.
    public init(certificateChain: [UInt8], key: [UInt8]) throws(TLSError) {
        let chain = try PEMCertificates(certificateChain)
        let key = try PEMKey(key)
        try chain.check(key)
        guard let context = OpenSSLContext.make(TLS_server_method(), minimumVersion: TLS1_2_VERSION) else {
            throw .library(reason: OpenSSLFailure.take().text)
        }
        shim_SSL_CTX_release_buffers(context)
        SSL_CTX_set_alpn_select_cb(context, Self.selectProtocol, nil)
        self.context = context
        notBefore = Self.seconds(X509_get0_notBefore(chain.leaf))
        notAfter = Self.seconds(X509_get0_notAfter(chain.leaf))
        guard chain.install(in: context) else { throw .certificateRefused(reason: OpenSSLFailure.take().text) }
        guard SSL_CTX_use_PrivateKey(context, key.pointer) == 1 else {
            throw .library(reason: OpenSSLFailure.take().text)
        }
    }

    deinit {
        SSL_CTX_free(context)
    }

    private static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64? {
        var parts = tm()
        guard ASN1_TIME_to_tm(time, &parts) == 1 else {
            ERR_clear_error()
            return nil
        }
        return Int64(timegm(&parts))
    }

    private static let protocols: [String.UTF8View] = ["http/1.1".utf8, "http/1.0".utf8]

    /// Chooses from the client's list, in which each name follows its length.
    private static let selectProtocol:
        @convention(c) (
            OpaquePointer?, UnsafeMutablePointer<UnsafePointer<UInt8>?>?, UnsafeMutablePointer<UInt8>?,
            UnsafePointer<UInt8>?, UInt32, UnsafeMutableRawPointer?
        ) -> Int32 = { _, selected, length, offered, size, _ in
            guard let selected, let length, let offered else { return SSL_TLSEXT_ERR_ALERT_FATAL }
            var names = UnsafeBufferPointer(start: offered, count: Int(size))[...]
            while let count = names.popFirst() {
                let name = names.prefix(Int(count))
                if protocols.contains(where: { name.elementsEqual($0) }) {
                    selected.pointee = offered + name.startIndex
                    length.pointee = count
                    return SSL_TLSEXT_ERR_OK
                }
                names = names.dropFirst(Int(count))
            }
            return SSL_TLSEXT_ERR_ALERT_FATAL
        }
}
