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

    /// - Parameters:
    ///   - rsaBits: The length of an RSA key; nil for one of P-256.
    ///   - isOfLoopback: True for the certificate of a server at 127.0.0.1; false: it names nobody.
    package init(rsaBits: Int32? = nil, isOfLoopback: Bool = false) throws {
        key = try Self.require(rsaBits.map(Self.makeRSAKey) ?? shim_EVP_EC_gen_P256(), "key")
        certificate = try Self.require(X509_new(), "certificate")
        X509_set_version(certificate, 2)
        ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1)
        ASN1_TIME_set(X509_getm_notBefore(certificate), Self.validity.lowerBound)
        ASN1_TIME_set(X509_getm_notAfter(certificate), Self.validity.upperBound)
        X509_set_pubkey(certificate, key)
        if isOfLoopback { Self.nameLoopback(in: certificate) }
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

    /// A certificate in PEM that differs in its end alone, in seconds since 1970.
    package func certificateText(validUntil end: Int) throws -> [UInt8] {
        let other = try Self.require(X509_dup(certificate), "copy")
        defer { X509_free(other) }
        ASN1_TIME_set(X509_getm_notAfter(other), end)
        guard X509_sign(other, key, EVP_sha256()) > 0 else { throw LibraryFailure(step: "signature") }
        return Self.text { PEM_write_bio_X509($0, other) }
    }

    /// A server's certificate.
    package func makeServerContext() throws -> TLSServerContext {
        try TLSServerContext(certificateChain: certificateText, key: keyText)
    }

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

    /// Adds a name, without which libcurl takes no certificate, and the extension `subjectAltName` with the address
    /// (RFC 5280, 4.2.1.6).
    private static func nameLoopback(in certificate: OpaquePointer) {
        let subject = X509_get_subject_name(certificate)
        X509_NAME_add_entry_by_NID(subject, NID_commonName, V_ASN1_UTF8STRING, Array("loopback".utf8), 8, -1, 0)
        X509_set_issuer_name(certificate, subject)
        let value = ASN1_OCTET_STRING_new()
        ASN1_OCTET_STRING_set(value, [0x30, 6, 0x87, 4, 127, 0, 0, 1], 8)
        let names = X509_EXTENSION_create_by_NID(nil, NID_subject_alt_name, 0, value)
        X509_add_ext(certificate, names, -1)
        X509_EXTENSION_free(names)
        ASN1_OCTET_STRING_free(value)
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
