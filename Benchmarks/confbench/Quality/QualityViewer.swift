import MediaCore
import PixelTransfer
import Simulation
import VideoCoding

/// A viewer who looks at each picture a fixed time after it was composed, and at the one before it if it has not
/// arrived by then.
final class QualityViewer {
    /// The time from a picture's composition until it is looked at.
    static let playoutDelay = Duration.milliseconds(300)

    private let frames: [RoomFrame]
    private var next = 0
    private let pipeline = DecodingPipeline()
    private let scaler: PixelTransferSession
    private var shown: PixelBuffer?

    init(_ frames: [RoomFrame], canvas: VideoDimensions) {
        self.frames = frames
        scaler = PixelTransferSession(destination: PixelBufferAttributes(formats: [.i420], dimensions: canvas))
    }

    /// The picture that is seen in place of the one that was composed at a time, in the canvas's size; nil before the
    /// first picture. Times must increase.
    func picture(at time: MonotonicInstant) throws -> PixelBuffer? {
        // A tick's time is rounded to nanoseconds.
        let newest = time + .microseconds(1)
        while next < frames.count, let captured = frames[next].captureTime, captured <= newest,
            frames[next].arrival <= time + Self.playoutDelay
        {
            pipeline.decode(frames[next].sample) { event in
                if case .output(let output) = event, let picture = output.picture { shown = picture.pixelBuffer }
            }
            next += 1
        }
        guard let shown else { return nil }
        return try scaler.transfer(shown)
    }
}
