internal import COpenSSL

/// Tells whether certificates and keys in PEM can be used, before a library gets them that would only say so when it
/// makes a connection.
public enum PEMCheck {
    /// Why they cannot be used.
    public enum Problem: Error, Hashable, Sendable {
        case noCertificate
        case noKey
        case encryptedKey
        /// The key is that of another certificate.
        case keyDoesNotFit
    }

    /// Checks that there is a certificate, and that all there are can be read.
    public static func check(certificates: [UInt8]) throws(Problem) {
        try withFirstCertificate(of: certificates) { _ throws(Problem) in }
    }

    /// Checks a chain of certificates and the key of its first.
    public static func check(key: [UInt8], of certificates: [UInt8]) throws(Problem) {
        try withFirstCertificate(of: certificates) { certificate throws(Problem) in
            guard let bio = makeBIO(key) else { throw .noKey }
            defer {
                BIO_free(bio)
                ERR_clear_error()
            }
            var isEncrypted = false
            let read = withUnsafeMutablePointer(to: &isEncrypted) { isEncrypted in
                // Without a callback, the library would ask for the passphrase on the terminal.
                PEM_read_bio_PrivateKey(
                    bio, nil,
                    { _, _, _, context in
                        context?.assumingMemoryBound(to: Bool.self).pointee = true
                        return -1
                    }, isEncrypted)
            }
            guard let read else { throw isEncrypted ? .encryptedKey : .noKey }
            defer { EVP_PKEY_free(read) }
            guard X509_check_private_key(certificate, read) == 1 else { throw .keyDoesNotFit }
        }
    }

    private static func withFirstCertificate(
        of bytes: [UInt8], _ body: (OpaquePointer) throws(Problem) -> Void
    ) throws(Problem) {
        guard let bio = makeBIO(bytes) else { throw .noCertificate }
        defer {
            BIO_free(bio)
            ERR_clear_error()
        }
        ERR_clear_error()
        guard let first = PEM_read_bio_X509(bio, nil, nil, nil) else { throw .noCertificate }
        defer { X509_free(first) }
        while let next = PEM_read_bio_X509(bio, nil, nil, nil) { X509_free(next) }
        // The end of the bytes, and nothing that cannot be read.
        guard shim_ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE else { throw .noCertificate }
        try body(first)
    }

    private static func makeBIO(_ bytes: [UInt8]) -> OpaquePointer? {
        guard let count = Int32(exactly: bytes.count), let bio = BIO_new(BIO_s_mem()) else { return nil }
        guard count == 0 || BIO_write(bio, bytes, count) == count else {
            BIO_free(bio)
            return nil
        }
        return bio
    }
}
