public import CongestionControl
public import MediaCore
public import RTP

/// What a simulated sender of media and its receiver do, whatever the network between them.
public struct MediaFlowParameters: Sendable {
    /// What the receiver tells the sender.
    public enum Feedback: Hashable, Sendable {
        /// Transport-wide feedback.
        case transportWide
        /// Congestion control feedback (RFC 8888); it tells marks.
        case congestionControl
        /// Receiver reports alone.
        case receiverReports
    }

    /// What becomes of packets that were lost.
    public enum Repair: String, CaseIterable, Sendable {
        /// Nothing: their frames are lost.
        case none
        /// The receiver asks for them, and the sender sends them again (RFC 4588), within the target.
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
        /// The sender's camera and microphone are on from now on, or off.
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
    /// How often the receiver sends its feedback; nil for the receiver that the controller was made for, or a browser.
    public var feedbackTiming: FeedbackTiming?
    /// Whether congestion control feedback comes with each frame's last packet, too.
    public var reportsFrameEnds = true
    /// Whether the kind of feedback was asked for: what a controller was made for is second to it.
    public var isFeedbackGiven = false
    public var events: [(time: Duration, event: Event)]
    /// Whether the sender makes padding where a probe lacks media.
    public var canPad: Bool
    /// The most that Opus takes beside the video, without packets' headers, in a packet each 20 ms; nil for no audio.
    public var audio: BitRate?
    /// How packets are marked when they leave.
    public var ecn: ECNCodepoint
    /// How fast the receiver's clock runs ahead of the sender's, in parts per million.
    public var receiverClockDrift: Double

    public init(
        encoder: EncoderModel.Configuration, pictures: PictureCoding? = nil, repair: Repair = .nack,
        start: Duration = .zero, stop: Duration? = nil, feedback: Feedback = .transportWide,
        feedbackTiming: FeedbackTiming? = nil, events: [(time: Duration, event: Event)] = [], canPad: Bool = true,
        audio: BitRate? = nil, ecn: ECNCodepoint = .notCapable, receiverClockDrift: Double = 0
    ) {
        self.encoder = encoder
        self.pictures = pictures
        self.repair = repair
        self.start = start
        self.stop = stop
        self.feedback = feedback
        self.feedbackTiming = feedbackTiming
        self.events = events
        self.canPad = canPad
        self.audio = audio
        self.ecn = ecn
        self.receiverClockDrift = receiverClockDrift
    }
}
