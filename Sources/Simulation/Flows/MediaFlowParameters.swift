public import CongestionControl
public import MediaCore
public import RTP

/// The parameters of a simulated media sender and its receiver, independent of the network.
public struct MediaFlowParameters: Sendable {
    /// The kind of feedback that the receiver sends.
    public enum Feedback: Hashable, Sendable {
        case transportWide
        /// Congestion control feedback (RFC 8888), which includes ECN marks.
        case congestionControl
        /// Receiver reports only.
        case receiverReports
    }

    /// The repair of lost packets.
    public enum Repair: String, CaseIterable, Sendable {
        /// No repair: frames with lost packets are lost.
        case none
        /// The receiver requests lost packets, and the sender retransmits them (RFC 4588) within the target.
        case nack
    }

    /// An event at a time of the simulation.
    public enum Event: Hashable, Sendable {
        /// The receiver asks for a keyframe.
        case keyframeRequest
        /// The content changes: the next frame is larger by this factor.
        case contentChange(Double)
        /// True if feedback is lost from now on.
        case feedbackLost(Bool)
        /// True if the sender's camera and microphone are on from now on.
        case sending(Bool)
        /// The upper limit of the encoder's rate from now on, whatever the target.
        case applicationLimit(BitRate)
    }

    public var encoder: EncoderModel.Configuration
    /// Real pictures instead of modelled frame sizes; nil for the model. The encoder's configuration still sets the
    /// frame rate and the bounds of the rate.
    public var pictures: PictureCoding?
    public var repair: Repair
    /// The beginning of the flow, and its end; nil for the end of the simulation.
    public var start: Duration
    public var stop: Duration?
    public var feedback: Feedback
    /// The time between two feedback messages; nil for the timing that the controller was designed for, or a browser's.
    public var feedbackTiming: FeedbackTiming?
    /// True if congestion control feedback is also sent after the last packet of each frame.
    public var reportsFrameEnds = true
    /// True if the kind of feedback was set explicitly. It then overrides the kind that the controller was designed
    /// for.
    public var isFeedbackGiven = false
    public var events: [(time: Duration, event: Event)]
    /// True if the sender adds padding if a probe lacks media.
    public var canPad: Bool
    /// The highest rate of Opus beside the video, without packet headers, with a packet each 20 ms; nil for no audio.
    public var audio: BitRate?
    /// The ECN mark of sent packets.
    public var ecn = ECNCodepoint.notCapable
    /// The drift of the receiver's clock against the sender's, in parts per million.
    public var receiverClockDrift = 0.0

    public init(
        encoder: EncoderModel.Configuration, pictures: PictureCoding? = nil, repair: Repair = .nack,
        start: Duration = .zero, stop: Duration? = nil, feedback: Feedback = .transportWide,
        events: [(time: Duration, event: Event)] = [], canPad: Bool = true, audio: BitRate? = nil
    ) {
        self.encoder = encoder
        self.pictures = pictures
        self.repair = repair
        self.start = start
        self.stop = stop
        self.feedback = feedback
        self.events = events
        self.canPad = canPad
        self.audio = audio
    }
}
