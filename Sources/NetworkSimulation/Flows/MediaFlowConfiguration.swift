public import LinkEmulation
public import MediaCore

/// A simulated call in one direction: one sender, a link, one receiver, and a link for its feedback.
public struct MediaFlowConfiguration: Sendable {
    public typealias Feedback = MediaFlowParameters.Feedback
    public typealias Event = MediaFlowParameters.Event

    public var duration: Duration
    public var seed: UInt64
    public var link: LinkProfile
    public var feedbackLink: LinkProfile
    public var flow: MediaFlowParameters
    /// Time from sample to sample.
    public var sampleInterval: Duration

    public var encoder: EncoderModel.Configuration { flow.encoder }

    /// Creates the configuration of a flow. Without a `feedbackLink`, feedback takes the link's propagation delay.
    public init(
        link: LinkProfile, feedbackLink: LinkProfile? = nil, flow: MediaFlowParameters,
        duration: Duration = .seconds(60), seed: UInt64 = 1, sampleInterval: Duration = .milliseconds(200)
    ) {
        self.link = link
        self.feedbackLink = feedbackLink ?? LinkProfile(delay: link.delay)
        self.flow = flow
        self.duration = duration
        self.seed = seed
        self.sampleInterval = sampleInterval
    }

    /// Creates the configuration of a flow with what is said of it most often.
    public init(
        link: LinkProfile, feedbackLink: LinkProfile? = nil, encoder: EncoderModel.Configuration,
        duration: Duration = .seconds(60), seed: UInt64 = 1, feedback: Feedback = .transportWide,
        events: [(time: Duration, event: Event)] = [], packetSize: DataSize = DataSize(bytes: 1200),
        sampleInterval: Duration = .milliseconds(200), maximumPacerDelay: Duration = .milliseconds(250),
        canPad: Bool = true
    ) {
        self.init(
            link: link, feedbackLink: feedbackLink,
            flow: MediaFlowParameters(
                encoder: encoder, feedback: feedback, events: events, packetSize: packetSize,
                maximumPacerDelay: maximumPacerDelay, canPad: canPad),
            duration: duration, seed: seed, sampleInterval: sampleInterval)
    }
}
