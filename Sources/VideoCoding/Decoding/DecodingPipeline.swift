public import MediaCore

/// Decodes a stream whose format may change: it uses one session after another and gives one ordered stream of events.
///
/// When the current session cannot accept a new format, its delayed pictures come out, a new session is made, and
/// decoding continues. Each frame is answered exactly once, in the call that pushes it unless the stream reorders
/// frames. A pipeline belongs to one serial queue.
public final class DecodingPipeline {
    private let attributes: PixelBufferAttributes
    private let limits: DecodingLimits
    private let reordering: PictureReordering
    private let counters = DecodingCounters()
    private var engine: DecoderEngine?

    /// The decoding effort for the next frames.
    public var effort = DecodingEffort.full {
        didSet { if effort != oldValue { engine?.effort = effort } }
    }

    /// Makes a pipeline; its decoder is made when the first frame comes.
    ///
    /// - Parameters:
    ///   - attributes: The requirements for pictures in every format.
    ///   - limits: The limits beyond which a stream is refused, before any memory is allocated.
    ///   - reordering: The number of frames that are delayed to sort pictures.
    public init(
        attributes: PixelBufferAttributes = .any, limits: DecodingLimits = .default,
        reordering: PictureReordering = .signalled
    ) {
        self.attributes = attributes
        self.limits = limits
        self.reordering = reordering
    }

    /// Decodes the next frame of the stream.
    ///
    /// - Parameters:
    ///   - sample: A frame in decoding order. Its format's parameter sets hold; any within its data do not.
    ///   - token: Comes back with the output.
    ///   - body: Called with outputs of this frame and of earlier ones, pictures in presentation order, and before the
    ///     first output of each new format with that.
    public func decode(
        _ sample: SampleBuffer, token: FrameToken = FrameToken(), _ body: (DecodingEvent) -> Void
    ) {
        do throws(VideoCodingError) {
            if try prepare(for: sample.format, body) { body(.formatChanged(sample.format)) }
            engine?.decode(sample, token: token) { body(.output($0)) }
        } catch {
            let result = DecodeResult.failed(error)
            counters.count(result)
            body(.output(DecodeOutput(presentationTime: sample.presentationTime, token: token, result: result)))
        }
    }

    /// Gives out the pictures held back for reordering, and answers all frames that were not. A keyframe may follow.
    public func finishDelayedFrames(_ body: (DecodingEvent) -> Void) {
        engine?.finish { body(.output($0)) }
    }

    /// Counters of answers so far, over all formats.
    public var statistics: DecodingStatistics { counters.statistics }

    /// Makes a decoder for `format` if needed.
    ///
    /// - Returns: True if the format is new.
    private func prepare(
        for format: VideoFormatDescription, _ body: (DecodingEvent) -> Void
    ) throws(VideoCodingError) -> Bool {
        switch engine?.adopt(format, { body(.output($0)) }) {
        case .adopted(let isNewSequence): return isNewSequence
        case .refused(.reject(let reason)): throw .unsupportedFormat(reason: reason)
        case .refused, nil: break
        }
        var next = try DecoderEngine(
            format: format, attributes: attributes, limits: limits, reordering: reordering, counters: counters)
        next.effort = effort
        _ = next.adopt(format) { _ in }
        engine?.finish { body(.output($0)) }
        engine = consume next
        return true
    }
}

/// Events of a decoding pipeline, in order.
public enum DecodingEvent: Sendable {
    /// The outputs that follow are of frames of this format. Told of the first one too; a new PPS alone is no new
    /// format.
    case formatChanged(VideoFormatDescription)
    case output(DecodeOutput)
}
