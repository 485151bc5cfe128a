internal import COpenSSL

/// A certificate and those that vouch for it, read from PEM.
struct PEMCertificates: ~Copyable {
    /// `X509 *` of the first one.
    let leaf: OpaquePointer
    private let others: [OpaquePointer]

    init(_ text: [UInt8]) throws(TLSError) {
        let certificates = PEMText.with(text) { bio -> [OpaquePointer]? in
            var certificates: [OpaquePointer] = []
            while let certificate = PEM_read_bio_X509(bio, nil, PEMText.refusePassword, nil) {
                certificates.append(certificate)
            }
            // The text has been read to its end if nothing begins any more.
            let isComplete = shim_ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE
            guard isComplete, !certificates.isEmpty else {
                for certificate in certificates { X509_free(certificate) }
                return nil
            }
            return certificates
        }
        guard let certificates, let first = certificates.first else { throw .noCertificate }
        leaf = first
        others = Array(certificates.dropFirst())
    }

    deinit {
        X509_free(leaf)
        for certificate in others { X509_free(certificate) }
    }

    /// Checks that the key is that of the first one.
    func check(_ key: borrowing PEMKey) throws(TLSError) {
        guard X509_check_private_key(leaf, key.pointer) == 1 else {
            ERR_clear_error()
            throw .keyDoesNotFit
        }
    }

    /// Makes an `SSL_CTX *` show them. When it refuses one, the error is in the library's queue.
    func install(in context: OpaquePointer) -> Bool {
        ERR_clear_error()
        guard SSL_CTX_use_certificate(context, leaf) == 1 else { return false }
        return others.allSatisfy { shim_SSL_CTX_add1_chain_cert(context, $0) == 1 }
    }
}

/// A private key, read from PEM.
struct PEMKey: ~Copyable {
    /// `EVP_PKEY *`.
    let pointer: OpaquePointer

    init(_ text: [UInt8]) throws(TLSError) {
        var isEncrypted = false
        let key = PEMText.with(text) { bio in
            PEM_read_bio_PrivateKey(bio, nil, PEMText.refusePassword, &isEncrypted)
        }
        guard let key else { throw isEncrypted ? .encryptedKey : .noKey }
        pointer = key
    }

    deinit {
        EVP_PKEY_free(pointer)
    }
}

private enum PEMText {
    /// Calls `body` with a `BIO *` over the text; nil if there is no such BIO. The error queue is empty before and
    /// after.
    static func with<Result>(_ text: [UInt8], _ body: (OpaquePointer) -> Result?) -> Result? {
        ERR_clear_error()
        defer { ERR_clear_error() }
        return text.withUnsafeBytes { bytes in
            guard let count = Int32(exactly: bytes.count), let bio = BIO_new_mem_buf(bytes.baseAddress, count) else {
                return nil
            }
            defer { BIO_free(bio) }
            return body(bio)
        }
    }

    /// Keeps the library from asking for a password on the terminal, and notes in the `Bool` that it wanted one.
    static let refusePassword:
        @convention(c) (UnsafeMutablePointer<CChar>?, Int32, Int32, UnsafeMutableRawPointer?) -> Int32 = {
            _, _, _, isEncrypted in
            isEncrypted?.assumingMemoryBound(to: Bool.self).pointee = true
            return -1
        }
}
