import MediaCore
import VideoCoding

/// A player's decoder, started afresh with each flush.
struct PlayerDecoder {
    /// The outcome of a sample. The same memory serves all samples.
    struct Results {
        fileprivate(set) var pictures: [DecodedPicture] = []
        fileprivate(set) var errors: [VideoCodingError] = []
        fileprivate(set) var dropped = 0
        /// Pictures that were decoded only for others.
        fileprivate(set) var hidden = 0

        fileprivate mutating func take(_ event: DecodingEvent) {
            guard case .output(let output) = event else { return }
            switch output.result {
            case .picture where output.token == PlayerDecoder.hidden: hidden += 1
            case .picture(let picture): pictures.append(picture)
            case .failed(let error): errors.append(error)
            case .dropped: dropped += 1
            }
        }

        fileprivate mutating func clear() {
            pictures.removeAll(keepingCapacity: true)
            errors.removeAll(keepingCapacity: true)
            dropped = 0
            hidden = 0
        }
    }

    /// The token of samples that are not shown.
    private static let hidden = FrameToken(1)

    private let pipeline: DecodingPipeline
    private var results = Results()
    private var generation = 0

    init(_ configuration: SampleBufferPlayer.Configuration) {
        pipeline = DecodingPipeline(
            attributes: configuration.attributes, limits: configuration.limits, reordering: configuration.reordering)
    }

    /// Decodes a sample.
    ///
    /// - Parameter generation: The number of flushes; delayed pictures of an earlier generation are discarded.
    mutating func decode(_ sample: SampleBuffer, generation: Int, _ body: (borrowing Results) -> Void) {
        start(generation)
        pipeline.decode(sample, token: sample.isShown ? FrameToken() : Self.hidden) { results.take($0) }
        body(results)
        results.clear()
    }

    /// Gives out delayed pictures, at the end of media.
    mutating func finish(generation: Int, _ body: (borrowing Results) -> Void) {
        start(generation)
        pipeline.finishDelayedFrames { results.take($0) }
        body(results)
        results.clear()
    }

    private mutating func start(_ generation: Int) {
        guard generation != self.generation else { return }
        self.generation = generation
        pipeline.finishDelayedFrames { _ in }
    }
}
