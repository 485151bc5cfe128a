public import MediaCore

/// Decodes one H.264 stream in software, with libavcodec.
///
/// Each frame pushed is answered exactly once, with its presentation time and token: with a picture, a drop or a
/// failure. Pictures come in presentation order, as soon as the stream's reorder depth allows: at once where nothing is
/// reordered. Frames that arrive damaged or refer to lost ones are concealed rather than refused. What is still owed
/// when the session ends is answered then.
///
/// Frames are decoded in the order in which they were pushed, one at a time, whichever threads push them. The output
/// handler runs on the thread that decodes. It may call the session: what it pushes is decoded when it has returned.
public final class DecompressionSession: Sendable {
    /// The session's format. Its size is the largest that the session takes.
    public let format: VideoFormatDescription
    private let limits: DecodingLimits
    private let core: DecodingCore

    /// Makes a decoder. It shows pictures from the first keyframe (or recovery point) on.
    ///
    /// - Parameters:
    ///   - format: What the stream begins with.
    ///   - attributes: What pictures must be like. The decoder's own frames are handed out where they are like that
    ///     already, and converted where they are not.
    ///   - limits: What is refused, before any memory is allocated for it.
    ///   - pipelineDepth: How many asynchronous frames may wait before whoever pushes has to; at least one.
    ///   - outputHandler: Called with each output, one at a time.
    public convenience init(
        format: VideoFormatDescription, attributes: PixelBufferAttributes = .any, limits: DecodingLimits = .default,
        pipelineDepth: Int = 4, outputHandler: @escaping @Sendable (DecodeOutput) -> Void
    ) throws(VideoCodingError) {
        try self.init(
            format: format, attributes: attributes, limits: limits, gate: PipelineGate(depth: pipelineDepth),
            outputHandler: outputHandler, onEnd: {})
    }

    private init(
        format: VideoFormatDescription, attributes: PixelBufferAttributes, limits: DecodingLimits, gate: PipelineGate,
        outputHandler: @escaping @Sendable (DecodeOutput) -> Void, onEnd: @escaping @Sendable () -> Void
    ) throws(VideoCodingError) {
        self.format = format
        self.limits = limits
        core = try DecodingCore(
            format: format, attributes: attributes, limits: limits, gate: gate, outputHandler: outputHandler,
            onEnd: onEnd)
    }

    deinit {
        core.invalidate()
    }

    /// Makes a decoder whose outputs are read as an asynchronous sequence, which ends when the session does.
    ///
    /// Outputs that have not been read count as frames in the pipeline: whoever pushes asynchronously faster than the
    /// sequence is read has to wait.
    public static func withOutputs(
        format: VideoFormatDescription, attributes: PixelBufferAttributes = .any, limits: DecodingLimits = .default,
        pipelineDepth: Int = 4
    ) throws(VideoCodingError) -> (session: DecompressionSession, outputs: DecodeOutputs) {
        let gate = PipelineGate(depth: pipelineDepth)
        let outputs = DecodeOutputs(gate: gate)
        let session = try DecompressionSession(
            format: format, attributes: attributes, limits: limits, gate: gate,
            outputHandler: { outputs.yield($0) }, onEnd: { outputs.finish() })
        return (session, outputs)
    }

    /// Whether the session goes on when the stream's format becomes `format`.
    ///
    /// It does as long as profile, chroma format and bit depth stay as they are and the picture, as coded, is no larger
    /// than that of the format that the session was made for. Other parameter sets for the same pictures change nothing
    /// for those that are held back; where another sequence begins, the session gives them out before its first frame,
    /// which is a keyframe. On `.recreate`, finish this session and make another.
    public func canAccept(_ format: VideoFormatDescription) -> Acceptance {
        DecoderEngine.canAccept(format, after: self.format, limits: limits)
    }

    /// Decodes the next frame of the stream.
    ///
    /// - Parameters:
    ///   - sample: A frame in decoding order. Its format's parameter sets hold; any within its data do not.
    ///   - token: Comes back with the output.
    ///   - mode: Whether to wait for the output. Asynchronously, the call blocks only while the pipeline is full;
    ///     `decodeAsynchronously` suspends instead.
    public func decode(_ sample: SampleBuffer, token: FrameToken = FrameToken(), mode: DecodeMode = .synchronous) {
        switch mode {
        case .synchronous: core.decode(sample, token: token)
        case .asynchronous: core.enqueue(sample, token: token)
        }
    }

    /// Hands the next frame of the stream over; suspends while the pipeline is full.
    public func decodeAsynchronously(_ sample: SampleBuffer, token: FrameToken = FrameToken()) async {
        await core.enqueueOrSuspend(sample, token: token)
    }

    /// Waits until all frames handed over so far are decoded, and the outputs have happened that this allows.
    public func waitForAsynchronousFrames() async {
        await core.waitForFrames()
    }

    /// Blocks until all frames handed over so far are decoded, and the outputs have happened that this allows.
    @available(*, noasync)
    public func waitForAsynchronousFrames() {
        core.finishFrames()
    }

    /// Sets what is spent on the frames that are pushed from here on; at first it is `full`.
    public func setEffort(_ effort: DecodingEffort) {
        core.setEffort(effort)
    }

    /// Gives out what the stream's reordering holds back and answers all that was not, asynchronous frames included. A
    /// keyframe may follow.
    public func finishDelayedFrames() {
        core.finishDelayedFrames()
    }

    /// Ends the session: what is still owed is answered with a drop, as is what is pushed later. What has been decoded
    /// and is held back is not shown; `finishDelayedFrames` would.
    public func invalidate() {
        core.invalidate()
    }

    /// Counters of answers so far.
    public var statistics: DecodingStatistics { core.statistics }
}
