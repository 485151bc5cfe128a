internal import COpenSSL
internal import MediaCore

/// A certificate for DTLS-SRTP, with its key: ECDSA with P-256, signed by itself (RFC 8827, section 6.5).
///
/// Nobody but the session description vouches for it, by its fingerprint. So it says nothing about who its owner is,
/// has no date of expiry (RFC 5280, 4.1.2.5), and one made when the program starts serves all its sessions. The key and
/// all that handshakes need at random come from OpenSSL's generator, which cannot be handed in.
///
/// `@unchecked Sendable`: the library's object is changed in the initializer alone, and what sessions do with it
/// afterwards is counting references, atomically, and reading (openssl-threads(7)).
public final class DTLSCertificate: @unchecked Sendable {
    /// What session descriptions say of the certificate.
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
