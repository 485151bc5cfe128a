public import MediaCore

/// Wishes for one frame.
public struct EncodeOptions: Hashable, Sendable {
    /// Make an IDR picture.
    public var forceKeyFrame: Bool

    public init(forceKeyFrame: Bool = false) {
        self.forceKeyFrame = forceKeyFrame
    }
}

/// One frame out of an encoder.
public struct EncodedFrame: Sendable {
    /// The frame's slices; its format carries SPS and PPS, which are not in the data.
    public var sample: SampleBuffer
    /// Whether it is an IDR picture.
    public var isKeyFrame: Bool
    /// The mean quantisation parameter, 0 (best) to 51, where the encoder tells it.
    public var averageQP: Int?
    /// The size of the sample's data.
    public var size: DataSize

    public init(sample: SampleBuffer, isKeyFrame: Bool, averageQP: Int?, size: DataSize) {
        self.sample = sample
        self.isKeyFrame = isKeyFrame
        self.averageQP = averageQP
        self.size = size
    }
}

/// Counts of what a compression session has made.
public struct CompressionStatistics: Hashable, Sendable {
    public var framesEncoded = 0
    public var keyFrames = 0
    /// Frames that the rate control left out.
    public var framesSkipped = 0
    public var encodedSize = DataSize.zero
    /// The largest frame that is no key frame.
    public var largestDeltaFrame = DataSize.zero
    /// Frames, key frames among them, that took longer than the latency budget at the bitrate of their time.
    public var framesOverBudget = 0

    public init() {}
}
