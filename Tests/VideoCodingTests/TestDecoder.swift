import MediaCore
import Synchronization

@testable import VideoCoding

/// A decompression session that collects its outputs, so that a test can match them with its calls.
final class TestDecoder: Sendable {
    let session: DecompressionSession
    private let outputs: OutputCollector

    init(
        format: VideoFormatDescription, attributes: PixelBufferAttributes = .any, limits: DecodingLimits = .default
    ) throws(VideoCodingError) {
        let outputs = OutputCollector()
        self.outputs = outputs
        session = try DecompressionSession(format: format, attributes: attributes, limits: limits) {
            outputs.append($0)
        }
    }

    func decode(_ sample: SampleBuffer, token: FrameToken = FrameToken()) -> [DecodeOutput] {
        session.decode(sample, token: token)
        return outputs.take()
    }

    func finishDelayedFrames() -> [DecodeOutput] {
        session.finishDelayedFrames()
        return outputs.take()
    }

    func canAccept(_ format: VideoFormatDescription) -> Acceptance { session.canAccept(format) }
}

/// Collects the arguments with which an output handler is called.
final class OutputCollector: Sendable {
    private let outputs = Mutex<[DecodeOutput]>([])

    func append(_ output: DecodeOutput) {
        outputs.withLock { $0.append(output) }
    }

    /// All so far.
    var all: [DecodeOutput] { outputs.withLock { $0 } }

    /// All since the last time.
    func take() -> [DecodeOutput] {
        outputs.withLock { outputs in
            defer { outputs = [] }
            return outputs
        }
    }
}
