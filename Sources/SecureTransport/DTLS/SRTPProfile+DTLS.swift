internal import COpenSSL

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
