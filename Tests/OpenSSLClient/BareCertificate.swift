internal import COpenSSL
package import SecureTransport

/// A certificate that signs itself, and its key, as OpenSSL makes them.
package final class BareCertificate {
    package struct LibraryFailure: Error {
        package var step: String
    }

    /// The first and last second in which a certificate is valid, since 1970, if a test names no others.
    package static let validity: ClosedRange<Int> = 1_000_000_000...4_000_000_000

    /// `X509 *`.
    package let certificate: OpaquePointer
    /// `EVP_PKEY *`.
    package let key: OpaquePointer
    package let fingerprint: CertificateFingerprint

    /// - Parameter rsaBits: The length of an RSA key; nil for one of P-256.
    package init(rsaBits: Int32? = nil) throws {
        key = try Self.require(rsaBits.map(Self.makeRSAKey) ?? shim_EVP_EC_gen_P256(), "key")
        certificate = try Self.require(X509_new(), "certificate")
        X509_set_version(certificate, 2)
        ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1)
        ASN1_TIME_set(X509_getm_notBefore(certificate), Self.validity.lowerBound)
        ASN1_TIME_set(X509_getm_notAfter(certificate), Self.validity.upperBound)
        X509_set_pubkey(certificate, key)
        guard X509_sign(certificate, key, EVP_sha256()) > 0 else { throw LibraryFailure(step: "signature") }
        var digest = [UInt8](repeating: 0, count: 32)
        X509_digest(certificate, EVP_sha256(), &digest, nil)
        fingerprint = try Self.require(CertificateFingerprint(digest: digest), "fingerprint")
    }

    deinit {
        EVP_PKEY_free(key)
        X509_free(certificate)
    }

    /// The certificate in PEM.
    package var certificateText: [UInt8] { Self.text { PEM_write_bio_X509($0, certificate) } }

    /// The key in PEM.
    package var keyText: [UInt8] { Self.text { PEM_write_bio_PrivateKey($0, key, nil, nil, 0, nil, nil) } }

    /// The key in PEM, encrypted.
    package var encryptedKeyText: [UInt8] {
        Self.text { PEM_write_bio_PKCS8PrivateKey($0, key, EVP_aes_128_cbc(), "secret", 6, nil, nil) }
    }

    /// The key in PEM, encrypted in the way that is older than PKCS #8.
    package var traditionallyEncryptedKeyText: [UInt8] {
        Self.text { bio in
            [UInt8]("secret".utf8).withUnsafeBufferPointer { password in
                PEM_write_bio_PrivateKey_traditional(bio, key, EVP_aes_128_cbc(), password.baseAddress, 6, nil, nil)
            }
        }
    }

    package static func require<Value>(_ value: Value?, _ step: String) throws -> Value {
        guard let value else { throw LibraryFailure(step: step) }
        return value
    }

    private static func text(_ write: (OpaquePointer?) -> Int32) -> [UInt8] {
        let bio = BIO_new(BIO_s_mem())
        defer { BIO_free(bio) }
        _ = write(bio)
        var bytes = [UInt8](repeating: 0, count: 16_384)
        let count = BIO_read(bio, &bytes, Int32(bytes.count))
        return Array(bytes.prefix(max(0, Int(count))))
    }

    private static func makeRSAKey(bits: Int32) -> OpaquePointer? {
        var key: OpaquePointer?
        let context = EVP_PKEY_CTX_new_id(EVP_PKEY_RSA, nil)
        defer { EVP_PKEY_CTX_free(context) }
        EVP_PKEY_keygen_init(context)
        EVP_PKEY_CTX_set_rsa_keygen_bits(context, bits)
        EVP_PKEY_keygen(context, &key)
        return key
    }
}
