internal import COpenSSL

/// What the `SSL_CTX *` of DTLS and of HTTPS have in common.
enum OpenSSLContext {
    /// The cipher suites of version 1.2, those of RFC 8827 (section 6.5) and equally good ones: new keys for each
    /// connection, and authenticated encryption. A server may have an RSA certificate. Version 1.3 has no others.
    private static let ciphers = [
        "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305",
        "ECDHE-RSA-CHACHA20-POLY1305", "ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-RSA-AES256-GCM-SHA384",
    ]

    /// Makes a context without a certificate, which the caller frees.
    ///
    /// There is no resumption, because the key of tickets would live as long as the program and open each recorded
    /// session of version 1.2; and no renegotiation.
    /// - Returns: Nil when the library refuses; the error is in its queue.
    static func make(_ method: OpaquePointer?, minimumVersion: Int32) -> OpaquePointer? {
        ERR_clear_error()
        guard let context = SSL_CTX_new(method) else { return nil }
        guard shim_SSL_CTX_set_defaults(context, minimumVersion) == 1,
            SSL_CTX_set_cipher_list(context, ciphers.joined(separator: ":")) == 1,
            shim_SSL_CTX_set1_groups_list(context, "X25519:P-256:P-384") == 1
        else {
            SSL_CTX_free(context)
            return nil
        }
        return context
    }
}
