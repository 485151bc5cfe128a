public import CongestionControl
import EncoderSharing
public import LinkEmulation
public import MediaCore

/// The parameters of a simulated room: one camera, and receivers that all see it.
public struct RoomSimulationParameters: Sendable {
    public struct Receiver: Sendable {
        public var name: String
        public var downlink: LinkProfile
        /// True if it requests a keyframe three times a second, even if it needs none.
        public var pleads = false

        public init(name: String, downlink: LinkProfile, pleads: Bool = false) {
            self.name = name
            self.downlink = downlink
            self.pleads = pleads
        }
    }

    public var receivers: [Receiver]
    public var duration: Duration
    /// The time before the figures are counted.
    public var warmUp = Duration.seconds(5)
    /// The largest number of encoders; nil for one for each receiver.
    public var maximumEncoders: Int?
    public var canvas = VideoDimensions(width: 1280, height: 720)
    public var frameRate = 30
    public var rateLimits = RateLimits(minimum: .kilobits(100), start: .kilobits(300), maximum: .kilobits(2500))
    public var congestionController = CongestionControllerKind.confrelay
    public var hasLadder = true
    public var content = SimulatedContent()
    /// Real pictures and encoders; nil for blank pictures and modelled encoders.
    public var media: RoomMedia?
    /// The seed of all random numbers.
    public var seed: UInt64 = 1

    public init(receivers: [Receiver], duration: Duration, maximumEncoders: Int?) {
        self.receivers = receivers
        self.duration = duration
        self.maximumEncoders = maximumEncoders
    }
}

/// The properties of the content that matter to an encoder.
public struct SimulatedContent: Hashable, Sendable {
    /// The QP of 1280x720 at 30 pictures a second and 1 Mbit/s. The default is typical of a conversation.
    public var qp = 32.0
    /// The standard deviation of a frame's size, divided by its mean.
    public var noise = 0.1
    /// The ratio of a keyframe's size to that of other frames, within the keyframe's bound.
    public var keyframeFactor = 8.0

    public init() {}

    var cost: ContentComplexity {
        ContentComplexity(
            qp: qp, rate: .megabits(1),
            rung: EncodeRung(dimensions: VideoDimensions(width: 1280, height: 720), frameRate: 30))
    }
}

extension RoomSimulationParameters {
    /// Returns receivers with a generated trace each: alternately a share of a line at home, from a half to a ninth,
    /// and a cellular or satellite link.
    public static func generatedReceivers(count: Int, duration: Duration, seed: UInt64) -> [Receiver] {
        let others: [TraceGenerator.Kind] = [.fiveG, .cellWalking, .cellDriving, .satellite]
        return (0..<max(0, count)).map { index in
            let isLine = index.isMultiple(of: 2)
            let kind = isLine ? .line : others[index / 2 % others.count]
            let sharers = isLine ? 2 + index / 2 % 8 : 1
            var generator = TraceGenerator(kind: kind, seed: seed &* 100 &+ UInt64(index))
            return Receiver(
                name: sharers > 1 ? "\(kind.rawValue)/\(sharers)" : kind.rawValue,
                downlink: LinkProfile(
                    rate: LinkRate.trace(generator.trace(duration: duration)).divided(by: sharers),
                    delay: .milliseconds(20)))
        }
    }
}
