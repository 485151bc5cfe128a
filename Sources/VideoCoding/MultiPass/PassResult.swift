public import MediaCore

/// A pass's result, and the passes that the encoder wants next.
public struct PassResult: Hashable, Sendable {
    /// The pass that was ended; the first is 1.
    public var pass: Int
    /// What the next pass is for, in ascending order; empty when another pass would gain too little.
    public var timeRangesForNextPass: [MediaTimeRange]
    /// The size of all frames as they stand after the pass.
    public var size: DataSize
    /// What the average bitrate makes of the recording's length.
    public var targetSize: DataSize
    /// The mean SSIM of all frames' luma as they stand after the pass, 1 for an exact copy.
    public var structuralSimilarity: Double
    /// How many frames the recording has.
    public var frameCount: Int
    /// How many of them this pass encoded.
    public var framesEncoded: Int

    /// Whether the encoder asks for another pass.
    public var furtherPassesRequested: Bool { !timeRangesForNextPass.isEmpty }
}
