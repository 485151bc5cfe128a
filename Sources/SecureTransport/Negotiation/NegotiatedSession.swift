public import MediaCore

/// What offer and answer agreed on: at most one video and one audio stream.
public struct NegotiatedSession: Hashable, Sendable {
    /// The accepted streams in the order of their `m=` lines.
    public var media: [NegotiatedMedia]
    /// The canonical name that the local side's sources have (RFC 3550, 6.5.1).
    public var cname: String
    /// Whether the streams share one transport and one pair of keys (RFC 8843).
    public var isBundled: Bool
    /// The most that the remote side wants to receive of the whole session (session-level `b=`).
    public var maximumBitRate: BitRate?

    public init(media: [NegotiatedMedia], cname: String, isBundled: Bool = false, maximumBitRate: BitRate? = nil) {
        self.media = media
        self.cname = cname
        self.isBundled = isBundled
        self.maximumBitRate = maximumBitRate
    }

    public var video: NegotiatedMedia? { media.first { $0.kind == .video } }
    public var audio: NegotiatedMedia? { media.first { $0.kind == .audio } }
}
