public import MediaCore

/// Decodes a stream whose parameter sets may change: one session after another, one ordered stream of outcomes.
///
/// It does what every user of `DecompressionSession` would: when the session in use cannot accept a new format, the
/// pictures that it holds back are fetched, a new session is made, and decoding goes on. Belongs to one serial queue.
public final class DecodingPipeline {
    private let limits: DecodingLimits
    private var session: DecompressionSession?

    public init(limits: DecodingLimits = .default) {
        self.limits = limits
    }

    /// Decodes the next frame of the stream: outcomes of this frame and of earlier ones, pictures in output order.
    public func decode(_ sample: SampleBuffer) -> [DecodeOutcome] {
        var outcomes: [DecodeOutcome] = []
        switch session?.canAccept(sample.format) {
        case .accept, nil: break
        case .recreate:
            outcomes = finishDelayedFrames()
            session = nil
        case .reject(let reason): return [.failed(.unsupportedFormat(reason: reason))]
        }
        do throws(VideoCodingError) {
            let current: DecompressionSession
            if let session { current = session } else { current = try makeSession(sample.format) }
            return outcomes + current.decode(sample)
        } catch {
            return outcomes + [.failed(error)]
        }
    }

    /// Fetches the pictures held back for reordering, at the end of the stream.
    public func finishDelayedFrames() -> [DecodeOutcome] {
        session?.finishDelayedFrames() ?? []
    }

    private func makeSession(_ format: VideoFormatDescription) throws(VideoCodingError) -> DecompressionSession {
        let made = try DecompressionSession(format: format, limits: limits)
        session = made
        return made
    }
}
