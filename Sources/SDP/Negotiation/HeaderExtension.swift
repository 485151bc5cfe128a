/// The RTP header extensions that this package knows, by the URIs of their `a=extmap` (RFC 8285, section 8).
public enum HeaderExtension: Hashable, Sendable, CaseIterable {
    /// Transport-wide sequence numbers (draft-holmer-rmcat-transport-wide-cc-extensions-01).
    case transportSequenceNumber
    /// The time at which the packet was sent: seconds modulo 64 as a 6.18 bit fixed-point number.
    case absoluteSendTime
    /// Audio level and voice activity (RFC 6464).
    case audioLevel
    /// The identification tag of the media description that a packet belongs to (RFC 8843, section 15).
    case mid
    /// The rotation of a picture (coordination of video orientation, 3GPP TS 26.114, 7.4.5).
    case videoOrientation

    public var uri: String {
        switch self {
        case .transportSequenceNumber:
            "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
        case .absoluteSendTime: "http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time"
        case .audioLevel: "urn:ietf:params:rtp-hdrext:ssrc-audio-level"
        case .mid: "urn:ietf:params:rtp-hdrext:sdes:mid"
        case .videoOrientation: "urn:3gpp:video-orientation"
        }
    }
}
