internal import COpenSSL

/// Compares the other side's certificate with the fingerprints of its session description, during the handshake: a
/// different certificate gets the alert `bad_certificate`.
final class PeerVerification {
    private let fingerprints: [CertificateFingerprint]
    /// True if the other side has shown a certificate with one of the fingerprints; nil before it has shown any.
    private(set) var isAccepted: Bool?

    init(fingerprints: [CertificateFingerprint]) {
        self.fingerprints = fingerprints
    }

    /// The `SSL *`s whose verification it is refer to it; it has to outlive them.
    func attach(to ssl: OpaquePointer) -> Bool {
        SSL_set_ex_data(ssl, Self.slot, Unmanaged.passUnretained(self).toOpaque()) == 1
    }

    /// The slot that the library leaves to applications (`SSL_set_app_data`).
    private static let slot: Int32 = 0

    /// The function for `SSL_CTX_set_cert_verify_callback`.
    static let callback: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Int32 = { store, _ in
        guard let store, let certificate = X509_STORE_CTX_get0_cert(store),
            let ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()),
            let verification = SSL_get_ex_data(OpaquePointer(ssl), slot)
        else { return 0 }
        let isAccepted = Unmanaged<PeerVerification>.fromOpaque(verification).takeUnretainedValue()
            .accepts(certificate)
        X509_STORE_CTX_set_error(store, isAccepted ? X509_V_OK : X509_V_ERR_CERT_REJECTED)
        return isAccepted ? 1 : 0
    }

    private func accepts(_ certificate: OpaquePointer) -> Bool {
        let isKnown = (try? CertificateFingerprint(ofCertificate: certificate)).map(fingerprints.contains) ?? false
        isAccepted = isKnown
        return isKnown
    }
}
