/// The reason for which an SRTP or SRTCP packet was not protected or not accepted.
public enum SRTPError: Error, Hashable, CustomStringConvertible {
    /// The tag does not fit the packet and the keys: a forgery, a damaged packet, or the wrong keys.
    case authenticationFailed
    /// A packet with this index was accepted already, or the index is older than the replay window (RFC 3711, 3.3.2).
    case replayed
    /// Shorter than its header, or than its header and the profile's trailer.
    case tooShort(byteCount: Int)
    /// The packet is longer than a UDP datagram can be.
    case tooLong(byteCount: Int)
    /// The header is not one of RTP or RTCP version 2, or contradicts the packet's length.
    case malformedHeader
    /// The context has seen as many synchronization sources as it keeps state for.
    case tooManySources(limit: Int)
    /// The key has protected as many packets as it may (RFC 3711, 9.2): new keys are needed.
    case keyExpired
    /// No keys have been agreed on.
    case missingKeys
    /// The method is for the other direction than the context's.
    case wrongDirection
    /// The SRTP library failed with this code (`srtp_err_status_t`).
    case library(code: UInt32)

    public var description: String {
        switch self {
        case .authenticationFailed: "SRTP authentication failed: wrong keys, or the packet was changed on its way"
        case .replayed: "SRTP packet index was seen before or is older than the replay window"
        case .tooShort(let byteCount): "\(byteCount) bytes are too short for an SRTP or SRTCP packet"
        case .tooLong(let byteCount): "\(byteCount) bytes are too long for an SRTP or SRTCP packet"
        case .malformedHeader: "the RTP or RTCP header is malformed"
        case .tooManySources(let limit): "more than \(limit) synchronization sources under one SRTP key"
        case .keyExpired: "the SRTP key has reached its limit of packets: negotiate new keys"
        case .missingKeys: "no SRTP keys have been agreed on"
        case .wrongDirection: "the SRTP context is for the other direction"
        case .library(let code): "libsrtp failed with status \(code)"
        }
    }
}
