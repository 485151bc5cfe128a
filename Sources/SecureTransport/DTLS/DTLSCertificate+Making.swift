internal import COpenSSL
internal import MediaCore

extension DTLSCertificate {
    /// The certificate and its key, both the caller's to free.
    static func makeCertificate() throws(DTLSError) -> (certificate: OpaquePointer, key: OpaquePointer) {
        ERR_clear_error()
        guard let key = shim_EVP_EC_gen_P256() else { throw .library(reason: OpenSSLFailure.take().text) }
        guard let certificate = X509_new() else {
            EVP_PKEY_free(key)
            throw .library(reason: OpenSSLFailure.take().text)
        }
        guard fill(certificate, key: key) else {
            X509_free(certificate)
            EVP_PKEY_free(key)
            throw .library(reason: OpenSSLFailure.take().text)
        }
        return (certificate, key)
    }

    private static func fill(_ certificate: OpaquePointer, key: OpaquePointer) -> Bool {
        var serial: UInt64 = 0
        let isRandom = withUnsafeMutableBytes(of: &serial) { bytes in
            RAND_bytes(bytes.assumingMemoryBound(to: UInt8.self).baseAddress, Int32(bytes.count)) == 1
        }
        guard isRandom, let name = X509_get_subject_name(certificate) else { return false }
        // Version 3 is written as 2. The serial is positive (RFC 5280, 4.1.2.2).
        return X509_set_version(certificate, 2) == 1
            && ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1 | 1) == 1
            && ASN1_TIME_set_string_X509(X509_getm_notBefore(certificate), "20000101000000Z") == 1
            && ASN1_TIME_set_string_X509(X509_getm_notAfter(certificate), "99991231235959Z") == 1
            && X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, "confrelay", -1, -1, 0) == 1
            && X509_set_issuer_name(certificate, name) == 1
            && X509_set_pubkey(certificate, key) == 1
            && X509_sign(certificate, key, EVP_sha256()) > 0
    }

    /// The size limit of a certificate chain: larger than an honest one (RSA of 4096 bits takes 1.3 kB) and roughly the
    /// library's limit of any handshake message. Messages made of fragments are never larger.
    private static let maximumCertificateChainSize = 16_384

    /// Makes the `SSL_CTX *` that sessions share; the caller frees it.
    static func makeContext(certificate: OpaquePointer, key: OpaquePointer) throws(DTLSError) -> OpaquePointer {
        guard let context = OpenSSLContext.make(DTLS_method(), minimumVersion: DTLS1_2_VERSION) else {
            throw .library(reason: OpenSSLFailure.take().text)
        }
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
        SSL_CTX_set_cert_verify_callback(context, PeerVerification.callback, nil)
        shim_SSL_CTX_set_max_cert_list(context, maximumCertificateChainSize)
        // The one call that gives back zero for success.
        guard SSL_CTX_set_tlsext_use_srtp(context, SRTPProfile.useSRTPList) == 0,
            SSL_CTX_use_certificate(context, certificate) == 1, SSL_CTX_use_PrivateKey(context, key) == 1
        else {
            SSL_CTX_free(context)
            throw .library(reason: OpenSSLFailure.take().text)
        }
        return context
    }
}

extension CertificateFingerprint {
    /// The fingerprint of an `X509 *`.
    init(ofCertificate certificate: OpaquePointer) throws(DTLSError) {
        var length: UInt32 = 0
        let digest = [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { bytes, count in
            let isMade = X509_digest(certificate, EVP_sha256(), bytes.baseAddress, &length) == 1
            count = isMade ? Int(length) : 0
        }
        guard let fingerprint = CertificateFingerprint(digest: digest) else {
            throw .library(reason: OpenSSLFailure.take().text)
        }
        self = fingerprint
    }
}

extension SRTPProfile {
    /// The profiles as `SSL_CTX_set_tlsext_use_srtp` takes them, the preferred one first.
    static let useSRTPList = "SRTP_AEAD_AES_128_GCM:SRTP_AES128_CM_SHA1_80"

    /// The profile with this identifier in `use_srtp` (RFC 5764, 4.1.2; RFC 7714, 14.2); nil for unsupported ones.
    init?(useSRTPIdentifier: UInt) {
        switch Int32(exactly: useSRTPIdentifier) {
        case SRTP_AEAD_AES_128_GCM: self = .aeadAES128GCM
        case SRTP_AES128_CM_SHA1_80: self = .aesCM128HMACSHA1_80
        default: return nil
        }
    }
}
