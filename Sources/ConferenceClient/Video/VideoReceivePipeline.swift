import Compositing
import Dispatch
import MediaCore
import VideoCoding

/// A client's video on its way in: decoder, frame counters, and the newest picture for a snapshot.
///
/// `@unchecked Sendable` holds because everything that changes is touched inside blocks on `queue` only, a serial
/// queue.
final class VideoReceivePipeline: @unchecked Sendable {
    /// The result of a frame.
    struct Output: Sendable {
        /// Pictures that came out of the decoder.
        var pictureCount = 0
        var dimensions: VideoDimensions?
        /// The delays that the frame's counters show; nil if they were not searched for.
        var delays: [(tag: UInt16, delay: Duration)]?
        /// True if decoding can continue only at a keyframe.
        var needsKeyframe = false
        var failureCount = 0
    }

    /// Counters are looked for this often: it costs about as much as decoding.
    private static let counterInterval: Duration = .milliseconds(250)

    let queue = DispatchQueue(label: "confclient.decode")
    private let decoder = DecodingPipeline()
    private var counterReader = FrameCounterReader()
    private var nextCounterTime = MonotonicInstant.zero
    private var latest: PixelBuffer?

    /// Decodes a frame. Call it on `queue` only.
    ///
    /// - Parameter isShown: False if its picture is not complete yet.
    func decode(_ sample: SampleBuffer, isShown: Bool = true) -> Output {
        var output = Output()
        decoder.decode(sample) { event in
            guard case .output(let decoded) = event else { return }
            switch decoded.result {
            case .picture where !isShown: break
            case .picture(let picture):
                output.pictureCount += 1
                output.dimensions = picture.pixelBuffer.dimensions
                latest = picture.pixelBuffer
            case .dropped(let reason):
                if reason == .awaitingKeyframe { output.needsKeyframe = true }
            case .failed:
                output.failureCount += 1
                output.needsKeyframe = true
            }
        }
        let now = ClientClock.now()
        if output.pictureCount > 0, now >= nextCounterTime, let latest {
            nextCounterTime = now + Self.counterInterval
            let wallClock = ClientClock.wallClockMilliseconds()
            output.delays = counterReader.readings(in: latest).map {
                (tag: $0.counter.tag, delay: $0.counter.age(atWallClockMilliseconds: wallClock))
            }
        }
        return output
    }

    /// Writes the newest picture. Call on `queue` only.
    ///
    /// - Throws: `ClientError.outputNotWritable` when it cannot be written; `.noMedia` when there is none.
    func writeSnapshot(to path: String) throws(ClientError) {
        guard let latest else {
            throw .noMedia(reason: "no picture arrived, so there is nothing to write to \(path)")
        }
        do {
            try latest.writePNG(to: path)
        } catch {
            throw .outputNotWritable(path: path, reason: error.reason)
        }
    }
}
