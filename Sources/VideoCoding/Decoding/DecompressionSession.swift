public import MediaCore

/// Decodes one H.264 stream in software, with libavcodec.
///
/// Each pushed frame is answered exactly once, with its presentation time and token: with a picture, a drop or a
/// failure. Pictures come in presentation order, as soon as the stream's reorder depth allows, and at once without
/// reordering. Damaged frames, and frames that refer to lost ones, are concealed and not refused. When the session
/// ends, all remaining frames are answered.
///
/// Frames are decoded in the order in which they were pushed, one at a time, from any threads. The output handler runs
/// on the thread that decodes. It may call the session: its frames are decoded after it has returned.
public final class DecompressionSession: Sendable {
    /// The session's format. Its size is the largest that the session takes.
    public let format: VideoFormatDescription
    private let limits: DecodingLimits
    private let core: DecodingCore

    /// Makes a decoder. It shows pictures from the first keyframe (or recovery point) on.
    ///
    /// - Parameters:
    ///   - format: The first format of the stream.
    ///   - attributes: The requirements for pictures. The decoder's own frames are handed out if they satisfy them, and
    ///     converted otherwise.
    ///   - limits: The limits beyond which a stream is refused, before any memory is allocated.
    ///   - pipelineDepth: The largest number of waiting asynchronous frames, at least one. Further pushes wait.
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

    /// Makes a decoder whose outputs are an asynchronous sequence, which ends when the session does.
    ///
    /// Unread outputs count as frames in the pipeline: asynchronous pushes wait while the sequence is not read.
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

    /// Returns whether the session can continue when the stream's format becomes `format`.
    ///
    /// It can while profile, chroma format and bit depth stay the same and the coded picture is no larger than that of
    /// the session's first format. Other parameter sets for the same pictures change nothing for delayed pictures; when
    /// another sequence begins, the session gives them out before its first frame, which is a keyframe. On `.recreate`,
    /// finish this session and make another.
    public func canAccept(_ format: VideoFormatDescription) -> Acceptance {
        DecoderEngine.canAccept(format, after: self.format, limits: limits)
    }

    /// Decodes the next frame of the stream.
    ///
    /// - Parameters:
    ///   - sample: A frame in decoding order. Its format's parameter sets hold; any within its data do not.
    ///   - token: Comes back with the output.
    ///   - mode: True to wait for the output. Asynchronously, the call blocks only while the pipeline is full;
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

    /// Sets the effort for the frames that are pushed from now on; at first it is `full`.
    public func setEffort(_ effort: DecodingEffort) {
        core.setEffort(effort)
    }

    /// Gives out delayed pictures and answers all other frames, asynchronous ones included. A keyframe may follow.
    public func finishDelayedFrames() {
        core.finishDelayedFrames()
    }

    /// Ends the session: all unanswered and later frames are answered with a drop. Decoded but delayed pictures are not
    /// shown; `finishDelayedFrames` would show them.
    public func invalidate() {
        core.invalidate()
    }

    /// Counters of answers so far.
    public var statistics: DecodingStatistics { core.statistics }
}

/// The time at which the output of a frame happens.
public enum DecodeMode: Hashable, Sendable {
    /// Before the call returns, except for frames that the stream's reordering holds back.
    case synchronous
    /// Later, on the session's own queue. The call returns once the frame is handed over.
    case asynchronous
}
