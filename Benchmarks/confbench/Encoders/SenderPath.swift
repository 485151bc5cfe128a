import MediaCore
import VideoCoding

/// A scene as it arrives at the relay: encoded by its sender, and decoded.
final class SenderPath {
    private let scene: TalkerScene
    private let session: CompressionSession
    private let outputs = EncodeOutputQueue()
    private let pipeline = DecodingPipeline()

    init(scene: TalkerScene) throws {
        self.scene = scene
        session = try CompressionSession(
            dimensions: Workload.sourceDimensions,
            properties: CompressionProperties(
                averageBitRate: Workload.sourceBitRate, expectedFrameRate: Double(Workload.frameRate)),
            outputHandler: outputs.append)
    }

    /// The picture at `number`; numbers go up.
    func picture(_ number: Int) throws -> PixelBuffer {
        try session.encode(
            scene.picture(number),
            presentationTime: MediaTime(value: Int64(number), timescale: Int32(Workload.frameRate)))
        var picture: PixelBuffer?
        if let frame = outputs.next()?.frame {
            pipeline.decode(frame.sample) { event in
                if case .output(let output) = event { picture = output.picture?.pixelBuffer }
            }
        }
        guard let picture else { throw BenchmarkError.codecFailed(reason: "a sender's frame does not decode") }
        return picture
    }
}
