public import MediaCore

/// The result of offer and answer: at most one audio stream and one video stream of each content.
public struct NegotiatedSession: Hashable, Sendable {
    /// The accepted streams in the order of their `m=` lines.
    public var media: [NegotiatedMedia]
    /// The canonical name of the local side's sources (RFC 3550, 6.5.1).
    public var cname: String
    /// True if the streams share one transport and one pair of keys (RFC 8843).
    public var isBundled: Bool
    /// The transport of all streams if ICE and DTLS make it; nil if the descriptions carry addresses and keys.
    public var transport: NegotiatedTransport?
    /// The highest rate that the remote side wants to receive of the whole session (session-level `b=`).
    public var maximumBitRate: BitRate?
    /// The feedback interval that the remote side requests for its packets; nil if it states none.
    public var feedbackInterval: Duration?

    public init(
        media: [NegotiatedMedia], cname: String, isBundled: Bool = false, transport: NegotiatedTransport? = nil,
        maximumBitRate: BitRate? = nil, feedbackInterval: Duration? = nil
    ) {
        self.media = media
        self.cname = cname
        self.isBundled = isBundled
        self.transport = transport
        self.maximumBitRate = maximumBitRate
        self.feedbackInterval = feedbackInterval
    }

    /// The stream with the participant's camera and, in the other direction, the composed picture.
    public var video: NegotiatedMedia? { media.first { $0.kind == .video && $0.content == .main } }
    /// The stream of a screen share.
    public var screenShare: NegotiatedMedia? { media.first { $0.kind == .video && $0.content == .screenShare } }
    public var audio: NegotiatedMedia? { media.first { $0.kind == .audio } }

    /// True if feedback describes the path to the participant (`FeedbackSupport.describesPath`): feedback on video, or
    /// on audio without video.
    public var describesPath: Bool { (video ?? audio)?.feedback.describesPath ?? false }

    /// True if the remote side reports on single packets of a stream.
    public var hasFeedbackOnPackets: Bool {
        media.contains { $0.feedback.transportCC || $0.feedback.congestionControl }
    }
}
