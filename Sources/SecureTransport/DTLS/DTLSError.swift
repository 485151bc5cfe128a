/// The reason for which a DTLS association failed, or ended.
public enum DTLSError: Error, Hashable, CustomStringConvertible {
    /// The session description named no fingerprint: nothing would tell the other side's certificate from a stranger's.
    case missingFingerprint
    /// The other side's certificate is not one that the session description vouches for (RFC 8122, section 6.2).
    case fingerprintMismatch
    /// The sides have no SRTP protection profile in common, or the other side did not ask for SRTP (RFC 5764, 4.1).
    case noCommonProfile
    /// The other side lacks the extended master secret (RFC 7627), without which exported keys may be another's as
    /// well.
    case noExtendedMasterSecret
    /// The handshake took too long.
    case timedOut
    /// The other side ended the association with this alert.
    case alertReceived(code: UInt8, name: String)
    /// The handshake cannot continue; the library's words.
    case handshakeFailed(reason: String)
    /// The library failed for a reason that is not the other side's; its own words.
    case library(reason: String)

    public var description: String {
        switch self {
        case .missingFingerprint: "no SHA-256 fingerprint of the other side's certificate: a=fingerprint is missing"
        case .fingerprintMismatch: "the certificate is not the one that a=fingerprint vouches for: refused"
        case .noCommonProfile:
            "no SRTP profile in common: offer SRTP_AEAD_AES_128_GCM or SRTP_AES128_CM_SHA1_80 (use_srtp)"
        case .noExtendedMasterSecret: "the other side does not negotiate the extended master secret (RFC 7627)"
        case .timedOut: "the DTLS handshake was not completed in time: is UDP blocked on one of its ways?"
        case .alertReceived(let code, let name): "the other side sent the DTLS alert \(code) (\(name))"
        case .handshakeFailed(let reason): "the DTLS handshake failed: \(reason)"
        case .library(let reason): "OpenSSL failed: \(reason)"
        }
    }
}
