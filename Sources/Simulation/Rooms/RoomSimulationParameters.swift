public import Conference
public import CongestionControl
import EncoderSharing
public import LinkEmulation
public import MediaCore

/// A room to be simulated: one camera, and receivers who all see it.
public struct RoomSimulationParameters: Sendable {
    /// One who receives.
    public struct Receiver: Sendable {
        public var name: String
        public var downlink: LinkProfile
        /// Whether it asks for a keyframe three times a second, whatever it gets.
        public var pleads = false

        public init(name: String, downlink: LinkProfile, pleads: Bool = false) {
            self.name = name
            self.downlink = downlink
            self.pleads = pleads
        }
    }

    public var receivers: [Receiver]
    public var duration: Duration
    /// From when on is counted.
    public var warmUp = Duration.seconds(5)
    /// The most encoders; nil for one for each receiver.
    public var maximumEncoders: Int?
    public var canvas = VideoDimensions(width: 1280, height: 720)
    public var frameRate = 30
    public var rateLimits = RateLimits(minimum: .kilobits(100), start: .kilobits(300), maximum: .kilobits(2500))
    public var congestionController = CongestionControllerKind.confrelay
    public var hasLadder = true
    public var content = SimulatedContent()
    /// Pictures and encoders that are real; nil: blank pictures, and encoders that are modelled.
    public var media: RoomMedia?
    /// Seeds all that is random.
    public var seed: UInt64 = 1

    public init(receivers: [Receiver], duration: Duration, maximumEncoders: Int?) {
        self.receivers = receivers
        self.duration = duration
        self.maximumEncoders = maximumEncoders
    }
}

/// What is shown, as far as an encoder minds.
public struct SimulatedContent: Hashable, Sendable {
    /// The quantisation parameter to which 1280x720 at 30 pictures a second comes at 1 Mbit/s: a conversation.
    public var qp = 32.0
    /// The standard deviation of a frame's size over its mean.
    public var noise = 0.1
    /// A keyframe's size over that of other frames, as far as its bound allows.
    public var keyframeFactor = 8.0

    public init() {}

    var cost: ContentComplexity {
        ContentComplexity(
            qp: qp, rate: .megabits(1),
            rung: EncodeRung(dimensions: VideoDimensions(width: 1280, height: 720), roomFrameRate: 30))
    }
}
