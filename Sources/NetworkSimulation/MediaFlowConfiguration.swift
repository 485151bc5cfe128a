public import MediaCore

/// A simulated call in one direction: one sender, a link, one receiver, and a link for its feedback.
public struct MediaFlowConfiguration: Sendable {
    /// What the receiver tells the sender.
    public enum Feedback: Hashable, Sendable {
        /// Transport-wide feedback each 50 ms.
        case transportWide
        /// Receiver reports alone, at this interval.
        case receiverReports(Duration)
    }

    /// What happens at some time of the simulation.
    public enum Event: Hashable, Sendable {
        /// The receiver asks for a keyframe.
        case keyFrameRequest
        /// Feedback is lost from now on, or no more.
        case feedbackLost(Bool)
        /// The sender sends media from now on, or none.
        case sending(Bool)
        /// The encoder makes no more than this from now on, whatever the target.
        case applicationLimit(BitRate)
    }

    public var duration: Duration
    public var seed: UInt64
    public var link: LinkProfile
    public var feedbackLink: LinkProfile
    public var encoder: EncoderModel.Configuration
    public var feedback: Feedback
    public var events: [(time: Duration, event: Event)]
    /// The largest packet, with headers.
    public var packetSize: DataSize
    /// Time from sample to sample.
    public var sampleInterval: Duration
    /// The sender skips a frame while a packet has waited this long in the pacer.
    public var maximumPacerDelay: Duration
    /// Whether the sender makes padding where a probe lacks media.
    public var canPad: Bool

    /// Creates the configuration of a flow. Without a `feedbackLink`, feedback takes the link's propagation delay.
    public init(
        link: LinkProfile, feedbackLink: LinkProfile? = nil, encoder: EncoderModel.Configuration,
        duration: Duration = .seconds(60), seed: UInt64 = 1, feedback: Feedback = .transportWide,
        events: [(time: Duration, event: Event)] = [], packetSize: DataSize = DataSize(bytes: 1200),
        sampleInterval: Duration = .milliseconds(200), maximumPacerDelay: Duration = .milliseconds(250),
        canPad: Bool = true
    ) {
        self.link = link
        self.feedbackLink = feedbackLink ?? LinkProfile(delay: link.delay)
        self.encoder = encoder
        self.duration = duration
        self.seed = seed
        self.feedback = feedback
        self.events = events
        self.packetSize = packetSize
        self.sampleInterval = sampleInterval
        self.maximumPacerDelay = maximumPacerDelay
        self.canPad = canPad
    }
}
