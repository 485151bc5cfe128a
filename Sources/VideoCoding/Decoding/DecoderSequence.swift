public import MediaCore

/// One decoder after another, as the format of a stream changes. When the present one cannot accept a new format, its
/// delayed pictures come out, a new decoder is made, and decoding continues.
final class DecoderSequence {
    private let attributes: PixelBufferAttributes
    private let limits: DecodingLimits
    private let reordering: PictureReordering
    private let counters: DecodingCounters
    private let device: DecodingDevice?
    private let findsGaps: Bool
    private var engine: DecoderEngine?

    /// The decoding effort for the next frames.
    var effort = DecodingEffort.full {
        didSet { if effort != oldValue { engine?.effort = effort } }
    }

    /// - Parameters:
    ///   - device: Decodes in place of the processor; nil: none.
    ///   - findsGaps: Software looks for references that the stream lacks, too.
    init(
        attributes: PixelBufferAttributes, limits: DecodingLimits, reordering: PictureReordering,
        counters: DecodingCounters, device: DecodingDevice? = nil, findsGaps: Bool = false
    ) {
        self.attributes = attributes
        self.limits = limits
        self.reordering = reordering
        self.counters = counters
        self.device = device
        self.findsGaps = findsGaps
    }

    func decode(_ sample: SampleBuffer, token: FrameToken, _ body: (DecodingEvent) -> Void) {
        do throws(VideoCodingError) {
            if try prepare(for: sample.format, body) { body(.formatChanged(sample.format)) }
            engine?.decode(sample, token: token) { body(.output($0)) }
        } catch {
            let result = DecodeResult.failed(error)
            counters.count(result)
            body(.output(DecodeOutput(presentationTime: sample.presentationTime, token: token, result: result)))
        }
    }

    func takeLackOfReference() -> Bool { engine?.takeLackOfReference() ?? false }

    func finish(_ body: (DecodingEvent) -> Void) {
        engine?.finish { body(.output($0)) }
    }

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
            format: format, attributes: attributes, limits: limits, reordering: reordering, counters: counters,
            device: device, findsGaps: findsGaps)
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
