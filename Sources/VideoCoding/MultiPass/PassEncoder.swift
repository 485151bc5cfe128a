public import MediaCore

/// An encoder of passes, for a compression session.
///
/// `encode` and `finish` work as with other back ends, but several frames may come out at once: `nextReadyFrame`
/// returns the frames that `encode` did not return.
protocol PassEncoder: EncoderBackEndSession {
    /// Checks that the frame at `time` continues the pass; throws otherwise.
    func check(_ time: MediaTime) throws(VideoCodingError)

    /// The next frame that has come out; nil when there is none at the moment.
    func nextReadyFrame() throws(VideoCodingError) -> BackEndFrame?

    /// Ends the pass once all has come out, and plans the next one.
    func endPass() throws(VideoCodingError) -> PassResult
}

/// A pass's result, and the passes that the encoder wants next.
public struct PassResult: Hashable, Sendable {
    /// The pass that was ended; the first is 1.
    public var pass: Int
    /// The time ranges of the next pass, in ascending order; empty if another pass would gain too little.
    public var timeRangesForNextPass: [MediaTimeRange]
    /// The size of all frames as they stand after the pass.
    public var size: DataSize
    /// The size of the recording at the average bitrate.
    public var targetSize: DataSize
    /// The mean SSIM of all frames' luma as they stand after the pass, 1 for an exact copy.
    public var structuralSimilarity: Double
    /// The number of frames in the recording.
    public var frameCount: Int
    /// The number of frames that this pass encoded.
    public var framesEncoded: Int

    /// True if the encoder requests another pass.
    public var furtherPassesRequested: Bool { !timeRangesForNextPass.isEmpty }
}
