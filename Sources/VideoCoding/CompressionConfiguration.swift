public import MediaCore

/// What an encoder is to make.
public struct CompressionConfiguration: Hashable, Sendable {
    /// The picture size, even in both directions.
    public var dimensions: VideoDimensions
    /// Frames per second, 1 to 60. The bits of a frame follow from it.
    public var expectedFrameRate: Int
    /// The rate to spend.
    public var averageBitRate: BitRate
    public var profile: H264Profile
    /// `level_idc` (9 is level 1b) that the stream keeps within; nil for the lowest that holds size, frame rate and
    /// `averageBitRate` or 4 Mbit/s, whichever is more.
    public var levelIDC: UInt8?
    public var preset: EncoderPreset
    /// How long the largest frame may take at the average bitrate.
    ///
    /// x264 keeps all frames within it. OpenH264 spreads a frame's share of the rate evenly but cannot bound a single
    /// frame, so it does not know of the budget: what a key frame of a detailed picture takes beyond its share is
    /// saved on the frames that follow, within about two seconds. `CompressionStatistics` counts the frames over it.
    public var latencyBudget: Duration
    /// The most bytes of a slice's NAL unit, for receivers that reassemble no fragments; nil for one slice a picture.
    /// A slice is whole macroblocks: where a single one takes more, its slice is larger.
    public var maximumSliceSize: DataSize?
    /// The most frames from one key frame to the next; nil for key frames on request only.
    public var maximumKeyFrameInterval: Int?

    public init(
        dimensions: VideoDimensions, expectedFrameRate: Int = 30, averageBitRate: BitRate,
        profile: H264Profile = .constrainedBaseline, levelIDC: UInt8? = nil, preset: EncoderPreset = .fastest,
        latencyBudget: Duration = .milliseconds(100), maximumKeyFrameInterval: Int? = nil,
        maximumSliceSize: DataSize? = nil
    ) {
        self.dimensions = dimensions
        self.expectedFrameRate = expectedFrameRate
        self.averageBitRate = averageBitRate
        self.profile = profile
        self.levelIDC = levelIDC
        self.preset = preset
        self.latencyBudget = latencyBudget
        self.maximumKeyFrameInterval = maximumKeyFrameInterval
        self.maximumSliceSize = maximumSliceSize
    }

    /// Frame rates that the encoders take.
    static let frameRates = 1...60
    /// Smaller targets than this are taken for this: no encoder makes a picture of less.
    static let minimumBitRate = BitRate.kilobits(10)
    private static let usualBitRate = BitRate.megabits(4)
    private static let minimumSide = 16

    /// Checks the configuration and finds the level.
    func validated() throws(VideoCodingError) -> H264Level {
        // Bounded one by one before areas are computed from them.
        let sides = Self.minimumSide...DecodingLimits.default.maximumDimension
        guard sides.contains(dimensions.width), sides.contains(dimensions.height) else {
            throw .invalidConfiguration(
                reason: "a \(dimensions) picture; sides from \(sides.lowerBound) to \(sides.upperBound) can be encoded")
        }
        guard dimensions.width.isMultiple(of: 2), dimensions.height.isMultiple(of: 2) else {
            throw .invalidConfiguration(reason: "a \(dimensions) picture; width and height must be even")
        }
        guard Self.frameRates.contains(expectedFrameRate) else {
            throw .invalidConfiguration(
                reason: "\(expectedFrameRate) frames a second; from \(Self.frameRates.lowerBound) to "
                    + "\(Self.frameRates.upperBound) can be encoded")
        }
        guard latencyBudget > .zero else {
            throw .invalidConfiguration(reason: "the latency budget must be longer than nothing")
        }
        if let maximumKeyFrameInterval, maximumKeyFrameInterval < 1 {
            throw .invalidConfiguration(reason: "the key frame interval must be one frame or more")
        }
        guard let levelIDC else {
            let lowest = H264Level.lowest(
                for: dimensions, frameRate: expectedFrameRate, bitRate: max(averageBitRate, Self.usualBitRate),
                profile: profile)
            guard let lowest else {
                throw .levelExceeded(
                    levelIDC: 52, reason: "no level holds \(dimensions) at \(expectedFrameRate) frames a second")
            }
            return lowest
        }
        guard let level = H264Level(levelIDC: levelIDC) else {
            throw .invalidConfiguration(reason: "no H.264 level has level_idc \(levelIDC)")
        }
        if let reason = level.reasonToRefuse(dimensions, frameRate: expectedFrameRate) {
            throw .levelExceeded(levelIDC: levelIDC, reason: reason)
        }
        return level
    }
}
