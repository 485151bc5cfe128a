public import MediaCore
public import RTP

/// What a simulated sender of media and its receiver do, whatever the network between them.
public struct MediaFlowParameters: Sendable {
    /// What the receiver tells the sender.
    public enum Feedback: Hashable, Sendable {
        /// Transport-wide feedback.
        case transportWide
        /// Congestion control feedback (RFC 8888), at the interval and, unless that is off, with each frame's last
        /// packet; it tells marks.
        case congestionControl
        /// Receiver reports alone, at this interval.
        case receiverReports(Duration)
    }

    /// What becomes of packets that were lost.
    public enum Repair: String, CaseIterable, Sendable {
        /// Nothing: their frames are lost.
        case none
        /// The receiver asks for them, and the sender sends them again, within the target.
        case nack
    }

    /// What happens at some time of the simulation.
    public enum Event: Hashable, Sendable {
        /// The receiver asks for a keyframe.
        case keyframeRequest
        /// The content changes: the next frame is this many times as large.
        case contentChange(Double)
        /// Feedback is lost from now on, or no more.
        case feedbackLost(Bool)
        /// The sender sends media from now on, or none.
        case sending(Bool)
        /// The encoder makes no more than this from now on, whatever the target.
        case applicationLimit(BitRate)
    }

    public var encoder: EncoderModel.Configuration
    /// Real pictures instead of the model's sizes; nil for the model. The encoder's configuration still says how many
    /// frames there are a second, and bounds the rate.
    public var pictures: PictureCoding?
    public var repair: Repair
    /// When the flow begins, and when it ends; nil: with the simulation.
    public var start: Duration
    public var stop: Duration?
    public var feedback: Feedback
    /// How often the receiver sends its feedback, where it is not receiver reports alone.
    public var feedbackInterval: Duration
    /// Whether congestion control feedback comes with each frame's last packet, too.
    public var reportsFrameEnds = true
    /// Whether the feedback was asked for: a controller's wish is second to it.
    public var isFeedbackGiven = false
    /// The interval of receiver reports beside the feedback; nil for none.
    public var reportInterval: Duration?
    public var events: [(time: Duration, event: Event)]
    /// The largest packet, with headers.
    public var packetSize: DataSize
    /// The sender skips a frame while a packet has waited this long in the pacer.
    public var maximumPacerDelay: Duration
    /// Whether the sender makes padding where a probe lacks media.
    public var canPad: Bool
    /// Audio that is sent beside the video, a packet each 20 ms, and counts in the target; nil for none.
    public var audio: BitRate?
    /// How packets are marked when they leave.
    public var ecn: ECNCodepoint
    /// How fast the receiver's clock runs ahead of the sender's, in parts per million.
    public var receiverClockDrift: Double

    public init(
        encoder: EncoderModel.Configuration, pictures: PictureCoding? = nil, repair: Repair = .nack,
        start: Duration = .zero, stop: Duration? = nil, feedback: Feedback = .transportWide,
        feedbackInterval: Duration = .milliseconds(50),
        reportInterval: Duration? = nil, events: [(time: Duration, event: Event)] = [],
        packetSize: DataSize = DataSize(bytes: 1200), maximumPacerDelay: Duration = .milliseconds(250),
        canPad: Bool = true, audio: BitRate? = nil, ecn: ECNCodepoint = .notCapable, receiverClockDrift: Double = 0
    ) {
        self.encoder = encoder
        self.pictures = pictures
        self.repair = repair
        self.start = start
        self.stop = stop
        self.feedback = feedback
        self.feedbackInterval = feedbackInterval
        self.reportInterval = reportInterval
        self.events = events
        self.packetSize = packetSize
        self.maximumPacerDelay = maximumPacerDelay
        self.canPad = canPad
        self.audio = audio
        self.ecn = ecn
        self.receiverClockDrift = receiverClockDrift
    }
}
