internal import COpenSSL
internal import MediaCore

/// A certificate for DTLS-SRTP, with its key: ECDSA with P-256, self-signed (RFC 8827, section 6.5).
///
/// Only its fingerprint in the session description vouches for it. So it says nothing about its owner, never expires
/// (RFC 5280, 4.1.2.5), and one made at the program's start serves all its sessions. The key and all random numbers of
/// handshakes come from OpenSSL's generator, which cannot be replaced.
///
/// `@unchecked Sendable`: the library's object changes only in the initializer; afterwards sessions only count
/// references, atomically, and read (openssl-threads(7)).
public final class DTLSCertificate: @unchecked Sendable {
    /// The certificate's fingerprint in session descriptions.
    public let fingerprint: CertificateFingerprint

    /// `SSL_CTX *` with the certificate, its key, and all that sessions have in common.
    let context: OpaquePointer

    /// Makes a key and the certificate for it.
    /// - Throws: `DTLSError.library`.
    public init() throws(DTLSError) {
        let made = try Self.makeCertificate()
        defer {
            X509_free(made.certificate)
            EVP_PKEY_free(made.key)
        }
        fingerprint = try CertificateFingerprint(ofCertificate: made.certificate)
        context = try Self.makeContext(certificate: made.certificate, key: made.key)
    }

    deinit {
        SSL_CTX_free(context)
    }
}
