public import NIOCore

/// The kind of a datagram on the shared media port, by its first bytes (RFC 7983, section 7; RFC 5761, section 4).
///
/// Classifying proves nothing: it only selects the parser. Authentication comes after it.
public enum DatagramKind: Hashable, Sendable {
    /// STUN (RFC 8489): first byte 0 to 3.
    case stun
    /// DTLS (RFC 9147): first byte 20 to 63.
    case dtls
    /// TURN channel data (RFC 8656): first byte 64 to 79.
    case turnChannel
    /// RTP or SRTP, at least a fixed header long.
    case rtp
    /// RTCP or SRTCP, at least a header with the sender's SSRC long.
    case rtcp
    /// None of these, or too short to be one.
    case unknown

    /// Classifies the readable bytes of a datagram.
    public static func classify(_ datagram: ByteBuffer) -> DatagramKind {
        datagram.withUnsafeReadableBytes { bytes in
            guard bytes.count >= 2 else { return .unknown }
            switch bytes[0] {
            case 0...3: return bytes.count >= 20 ? .stun : .unknown
            case 20...63: return bytes.count >= 13 ? .dtls : .unknown
            case 64...79: return bytes.count >= 4 ? .turnChannel : .unknown
            case 128...191:
                // RTCP packet types are 192 to 223; RTP with the marker set and payload type 64 to 95 would look the
                // same. So RFC 5761 forbids those payload types with multiplexing.
                if (192...223).contains(bytes[1]) { return bytes.count >= 8 ? .rtcp : .unknown }
                return bytes.count >= 12 ? .rtp : .unknown
            default: return .unknown
            }
        }
    }
}
