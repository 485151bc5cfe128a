public import MediaCore

/// An encoder as rate control sees it: it makes frames of about the size that the target allows, from the next frame
/// on, and a larger one only when a keyframe was asked for.
public struct EncoderModel: Sendable {
    public struct Configuration: Hashable, Sendable {
        public var frameRate: Int
        /// Frames are not made smaller or larger on average than these rates ask, whatever the target.
        public var minimum: BitRate
        public var maximum: BitRate
        /// The standard deviation of a frame's size over its mean; cut at three of them.
        public var noise: Double
        /// The size of a keyframe over that of other frames.
        public var keyFrameFactor: Double

        public init(
            frameRate: Int = 30, minimum: BitRate, maximum: BitRate, noise: Double = 0.1, keyFrameFactor: Double = 5
        ) {
            self.frameRate = max(frameRate, 1)
            self.minimum = minimum
            self.maximum = max(minimum, maximum)
            self.noise = noise
            self.keyFrameFactor = keyFrameFactor
        }

        /// The time from frame to frame.
        public var frameInterval: Duration { .nanoseconds(1_000_000_000 / Int64(frameRate)) }
    }

    public let configuration: Configuration
    /// How many keyframes were made.
    public private(set) var keyFrameCount = 0

    private var generator: SeededGenerator
    private var isKeyFrameRequested = false

    public init(configuration: Configuration, seed: UInt64) {
        self.configuration = configuration
        generator = SeededGenerator(seed: seed)
    }

    /// Makes the next frame a keyframe.
    public mutating func requestKeyFrame() {
        isKeyFrameRequested = true
    }

    /// The size of the next frame.
    public mutating func nextFrame(target: BitRate) -> DataSize {
        let rate = target.clamped(to: configuration.minimum...configuration.maximum)
        var bytes = Double(rate.bitsPerSecond) / 8 / Double(configuration.frameRate)
        bytes *= 1 + configuration.noise * generator.nextNormal(cutAt: 3)
        if isKeyFrameRequested {
            isKeyFrameRequested = false
            keyFrameCount += 1
            bytes *= configuration.keyFrameFactor
        }
        return DataSize(bytes: max(bytes, 1))
    }
}
