public import MediaCore

/// A model of an encoder for rate control. Its frames have about the size that the target allows, at once or with a
/// lag. Keyframes and changes of content make larger frames.
public struct EncoderModel: Sendable {
    public struct Configuration: Hashable, Sendable {
        public var frameRate: Int
        /// The lower bound of the mean rate, whatever the target; `maximum` is the upper bound.
        public var minimum: BitRate
        public var maximum: BitRate
        /// The standard deviation of a frame's size, divided by its mean; cut at three standard deviations.
        public var noise: Double
        /// The ratio of a keyframe's size to that of other frames.
        public var keyframeFactor: Double
        /// The time constant of the low-pass filter with which the frames' mean size follows the target. Zero: without
        /// lag.
        public var responseLag: Duration
        /// The time between two keyframes; nil for keyframes only on request.
        public var keyframeInterval: Duration?
        /// The sizes of frames in their order, relative to their mean; they repeat and replace the noise. Empty: noise.
        public var relativeFrameSizes: [Double]

        public init(
            frameRate: Int = 30, minimum: BitRate, maximum: BitRate, noise: Double = 0.1, keyframeFactor: Double = 5,
            responseLag: Duration = .zero, keyframeInterval: Duration? = nil, recordedFrameSizes: [DataSize] = []
        ) {
            self.frameRate = max(frameRate, 1)
            self.minimum = minimum
            self.maximum = max(minimum, maximum)
            self.noise = noise
            self.keyframeFactor = keyframeFactor
            self.responseLag = responseLag
            self.keyframeInterval = keyframeInterval
            let sum = recordedFrameSizes.reduce(0.0) { $0 + Double($1.bytes) }
            let mean = sum / Double(max(recordedFrameSizes.count, 1))
            relativeFrameSizes = mean > 0 ? recordedFrameSizes.map { Double($0.bytes) / mean } : []
        }

        /// The time between two frames.
        public var frameInterval: Duration { .nanoseconds(1_000_000_000 / Int64(frameRate)) }
    }

    /// The size of the largest frame. A buffer for a larger one may be more than there can be.
    static let largestFrame = DataSize(bytes: 64_000_000)

    public let configuration: Configuration
    public private(set) var keyframeCount = 0

    private var generator: SeededGenerator
    private var isKeyframeRequested = false
    /// The rate of the frames' present mean size, in bit/s.
    private var rate: Double?
    private var frameCount = 0
    private var complexity = 1.0

    public init(configuration: Configuration, seed: UInt64) {
        self.configuration = configuration
        generator = SeededGenerator(seed: seed)
    }

    /// Makes the next frame a keyframe.
    public mutating func requestKeyframe() {
        isKeyframeRequested = true
    }

    /// Models a change of the content: the next frame is `factor` times as large as the target allows. Later frames
    /// return to the target within about ten frames, as with a real encoder's rate control.
    public mutating func contentChanged(factor: Double) {
        complexity = max(factor, 0.01)
    }

    public mutating func nextFrame(target: BitRate) -> DataSize {
        let target = Double(target.clamped(to: configuration.minimum...configuration.maximum).bitsPerSecond)
        let interval = configuration.frameInterval.seconds
        let lag = configuration.responseLag.seconds
        let rate = self.rate.map { $0 + (target - $0) * interval / (lag + interval) } ?? target
        self.rate = rate
        var bytes = rate / 8 / Double(configuration.frameRate)
        let sizes = configuration.relativeFrameSizes
        if sizes.isEmpty {
            bytes *= 1 + configuration.noise * generator.nextNormal(cutAt: 3)
        } else {
            bytes *= sizes[frameCount % sizes.count]
        }
        if complexity != 1 {
            bytes *= complexity
            complexity = abs(complexity - 1) < 0.02 ? 1 : 1 + (complexity - 1) * 0.7
        }
        if isKeyframeRequested || isKeyframeDue {
            isKeyframeRequested = false
            keyframeCount += 1
            bytes *= configuration.keyframeFactor
        }
        frameCount += 1
        return min(DataSize(bytes: max(bytes, 1)), Self.largestFrame)
    }

    private var isKeyframeDue: Bool {
        guard let interval = configuration.keyframeInterval else { return false }
        let frames = max(Int(clamping: interval.seconds * Double(configuration.frameRate)), 1)
        return frameCount % frames == 0
    }
}
