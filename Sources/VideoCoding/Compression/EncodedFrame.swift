public import MediaCore

/// One frame out of an encoder.
public struct EncodedFrame: Sendable {
    /// The frame's NAL units; its format carries SPS and PPS, which are not in the data.
    public var sample: SampleBuffer
    public var statistics: EncodeStatistics
    /// A reference that the encoder keeps from this frame on. The encoder uses it only after it came back in
    /// `EncodeOptions.acknowledgedReferences`.
    public var longTermReference: LongTermReference?

    public init(sample: SampleBuffer, statistics: EncodeStatistics, longTermReference: LongTermReference? = nil) {
        self.sample = sample
        self.statistics = statistics
        self.longTermReference = longTermReference
    }

    /// Creates a frame of which only the sample is known.
    public init(sample: SampleBuffer) {
        self.init(
            sample: sample,
            statistics: EncodeStatistics(
                type: sample.isSync ? .idr : .p, size: DataSize(bytes: sample.data.count),
                temporalLayer: sample.dependency.temporalLayer ?? 0,
                isReference: sample.dependency.isDependedOn ?? true))
    }

    /// True if the frame is an IDR picture.
    public var isKeyframe: Bool { sample.isSync }
    /// The size of the sample's data.
    public var size: DataSize { statistics.size }
}

/// The kind of a frame, by its prediction.
public enum FrameType: String, CaseIterable, Sendable {
    /// An intra picture, after which no frame refers to one before it.
    case idr
    /// An intra picture.
    case i
    /// A picture predicted from earlier frames.
    case p
    /// Predicted from frames before and behind it, as they are shown.
    case b
}

/// The properties of an encoded frame.
public struct EncodeStatistics: Hashable, Sendable {
    public var type: FrameType
    /// The size of the frame's NAL units with their lengths.
    public var size: DataSize
    /// The quantisation parameter that the frame was begun with, 0 (best) to 51; nil if unknown.
    public var averageQP: Int?
    /// The time of the call that made the frame.
    public var encodingTime = Duration.zero
    /// The temporal layer; 0 for the layer that does not need the others.
    public var temporalLayer: Int
    /// True if other frames may refer to this one.
    public var isReference: Bool
    /// The number of frames to which this one may refer, forwards; zero for intra frames.
    public var referenceCount = 0
    /// True if the frame refers to a long-term reference.
    public var usesLongTermReference = false

    public init(type: FrameType, size: DataSize, temporalLayer: Int = 0, isReference: Bool = true) {
        self.type = type
        self.size = size
        self.temporalLayer = temporalLayer
        self.isReference = isReference
    }
}

/// Counts of a compression session's outputs.
public struct CompressionStatistics: Hashable, Sendable {
    public var framesEncoded = 0
    public var keyframes = 0
    /// Frames that were left out for the rate's or a limit's sake, or when the session ended.
    public var framesDropped = 0
    /// Frames that the encoder failed on.
    public var framesFailed = 0
    /// Frames that had to be made again to keep within a limit.
    public var framesRepeated = 0
    /// Pictures that the encoder could not read as they were.
    public var pixelTransfers = 0
    public var encodedSize = DataSize.zero
    /// The largest frame that is no keyframe.
    public var largestDeltaFrame = DataSize.zero
    /// Frames, keyframes among them, that took longer than the latency budget at the bitrate of their time.
    public var framesOverBudget = 0
}
