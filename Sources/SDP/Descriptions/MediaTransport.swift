/// The transport of an `m=` line (RFC 8866, 5.14), with its keying and its feedback.
public enum MediaTransport: Hashable, Sendable, CustomStringConvertible {
    /// The source of a transport's keys.
    public enum Keying: Hashable, Sendable {
        /// RTP without encryption.
        case none
        /// Keys in `a=crypto` (RFC 4568).
        case sessionDescription
        /// Keys from a DTLS handshake (RFC 5764).
        case dtls
    }

    /// RTP, secured or not, with or without the feedback of RFC 4585.
    case rtp(keying: Keying, feedback: Bool)
    /// Anything that is not RTP over UDP.
    case other(String)

    public init(_ name: String) {
        switch name {
        case "RTP/AVP": self = .rtp(keying: .none, feedback: false)
        case "RTP/AVPF": self = .rtp(keying: .none, feedback: true)
        case "RTP/SAVP": self = .rtp(keying: .sessionDescription, feedback: false)
        case "RTP/SAVPF": self = .rtp(keying: .sessionDescription, feedback: true)
        case "UDP/TLS/RTP/SAVP": self = .rtp(keying: .dtls, feedback: false)
        case "UDP/TLS/RTP/SAVPF": self = .rtp(keying: .dtls, feedback: true)
        default: self = .other(name)
        }
    }

    public var description: String {
        switch self {
        case .rtp(.none, let feedback): feedback ? "RTP/AVPF" : "RTP/AVP"
        case .rtp(.sessionDescription, let feedback): feedback ? "RTP/SAVPF" : "RTP/SAVP"
        case .rtp(.dtls, let feedback): feedback ? "UDP/TLS/RTP/SAVPF" : "UDP/TLS/RTP/SAVP"
        case .other(let name): name
        }
    }
}
