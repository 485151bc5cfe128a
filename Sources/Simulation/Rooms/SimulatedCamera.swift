import MediaCore
import PeerConnection
import SDP
import VideoCoding

/// A small camera with a new picture each time, so that the room must compose. Its content does not matter.
final class SimulatedCamera {
    private static let dimensions = VideoDimensions(width: 64, height: 64)

    private let session: CompressionSession
    private let outputs = EncodeOutputQueue()
    private let pictures: [PixelBuffer]
    private let interval: Duration
    private var count = 0
    private var wantsKeyframe = false
    private(set) var nextFrame: MonotonicInstant

    init(frameRate: Int, now: MonotonicInstant) throws(VideoCodingError) {
        session = try CompressionSession(
            dimensions: Self.dimensions,
            properties: CompressionProperties(
                averageBitRate: .kilobits(100), expectedFrameRate: Double(frameRate)),
            outputHandler: outputs.append)
        pictures = [UInt8(60), 180].map { level in
            var buffer = MutablePixelBuffer(format: .i420, dimensions: Self.dimensions)
            for plane in 0..<3 {
                buffer.withMutablePlane(plane) { bytes, _ in
                    for offset in 0..<bytes.count { bytes[offset] = level }
                }
            }
            return buffer.freeze()
        }
        interval = .nanoseconds(1_000_000_000 / Int64(max(1, frameRate)))
        nextFrame = now
    }

    func requestKeyframe() { wantsKeyframe = true }

    /// Sends a frame if it is due.
    func wake(_ peer: PeerConnection, now: MonotonicInstant) throws(VideoCodingError) {
        guard now >= nextFrame else { return }
        nextFrame += interval
        count += 1
        try session.encode(
            pictures[count % pictures.count],
            presentationTime: MediaTime(value: now.nanoseconds, timescale: 1_000_000_000),
            options: EncodeOptions(forceKeyframe: wantsKeyframe))
        wantsKeyframe = false
        guard let frame = outputs.next()?.frame else { return }
        peer.sendVideo(frame, content: .main, rotation: .none, captureTime: now, targetTime: now, now: now)
    }
}
