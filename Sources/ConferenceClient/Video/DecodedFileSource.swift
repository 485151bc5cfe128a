public import MediaCore
import Recording
import VideoCoding

/// Decodes the H.264 video of a file over and over, to be encoded again at the bitrate that the network carries.
public final class DecodedFileSource: VideoSource {
    public let dimensions: VideoDimensions
    public let frameRate: Double

    private let reader: MovieReader
    private let fixedInterval: Duration?
    private let decoder = DecodingPipeline()
    private var decoded: [DecodedPicture] = []
    private var isAtEnd = false

    private static let longestInterval: Duration = .seconds(2)
    /// So many frames without a picture mean that the file cannot be decoded.
    private static let maximumFruitlessFrames = 300

    /// Opens a file and starts a decoder for it.
    ///
    /// - Parameter fixedFrameRate: Frames per second for a raw stream; nil for a container, which has times.
    /// - Throws: `ClientError.unreadableInput`.
    public init(path: String, fixedFrameRate: Double?) throws(ClientError) {
        do {
            reader = try MovieReader(path: path)
        } catch {
            throw ClientError(reading: path, error)
        }
        dimensions = reader.format.dimensions
        frameRate = fixedFrameRate ?? reader.nominalFrameRate ?? 30
        fixedInterval = fixedFrameRate.map { .nanoseconds(Int64(1e9 / min(max($0, 1), 240))) }
    }

    public func nextFrame(wallClockMilliseconds: Int64) throws(ClientError) -> SourceFrame {
        do {
            // One picture more than is shown tells how long this one lasts.
            try fill(to: 2)
            if decoded.isEmpty, isAtEnd {
                try startOver()
                try fill(to: 2)
            }
        } catch {
            throw ClientError(reading: reader.path, error)
        }
        guard !decoded.isEmpty else {
            throw .unreadableInput(path: reader.path, reason: "none of its frames can be decoded")
        }
        let picture = decoded.removeFirst()
        var duration = fixedInterval ?? .nanoseconds(Int64(1e9 / max(frameRate, 1)))
        if fixedInterval == nil, let next = decoded.first {
            duration = (next.presentationTime - picture.presentationTime).duration
        }
        return SourceFrame(
            content: .picture(picture.pixelBuffer),
            duration: min(max(duration, .milliseconds(1)), Self.longestInterval))
    }

    /// Decodes until `count` pictures wait or the file ends.
    private func fill(to count: Int) throws {
        var fruitless = 0
        while decoded.count < count, !isAtEnd, fruitless < Self.maximumFruitlessFrames {
            let before = decoded.count
            if let sample = try reader.nextSample() {
                decoder.decode(sample) { take($0) }
            } else {
                decoder.finishDelayedFrames { take($0) }
                isAtEnd = true
            }
            fruitless = decoded.count > before ? 0 : fruitless + 1
        }
    }

    private func take(_ event: DecodingEvent) {
        if case .output(let output) = event, let picture = output.picture { decoded.append(picture) }
    }

    private func startOver() throws {
        try reader.rewind()
        isAtEnd = false
    }
}
