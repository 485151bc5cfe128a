public import MediaCore
import MediaFiles
import Synchronization
import VideoCoding

/// Decodes the H.264 video of a file over and over, to be encoded again at the bitrate that the network carries.
///
/// The file is played by a clock of its own, which is advanced to the next picture when that is asked for.
public final class DecodedFileSource: VideoSource {
    public var dimensions: VideoDimensions { playback.dimensions }
    public var frameRate: Double { playback.frameRate }

    private let path: String
    private let clock = VirtualMediaClock()
    private let playback: MoviePlayback
    private let shown = ShownPictures()

    private static let longestInterval: Duration = .seconds(2)

    /// Opens a file and starts a decoder for it.
    ///
    /// - Parameter fixedFrameRate: Frames per second for a raw stream; nil for a container, which has times.
    /// - Throws: `ClientError.unreadableInput`.
    public init(path: String, fixedFrameRate: Double?) throws(ClientError) {
        self.path = path
        playback = try MoviePlayback(
            .init(path: path, untimedFrameRate: fixedFrameRate.map { min(max($0, 1), 240) }, loops: true), clock: clock
        ) { [shown] event in
            if case .picture(let picture) = event { shown.append(picture) }
        }
        playback.timebase.setRate(1)
        playback.begin()
    }

    public func nextFrame(wallClockMilliseconds: Int64) throws(ClientError) -> SourceFrame {
        // One picture more than is shown tells how long this one lasts.
        while shown.count < 2 {
            let hasAdvanced = clock.advanceToNextDeadline()
            if let error = playback.error { throw error }
            guard hasAdvanced else {
                throw .unreadableInput(path: path, reason: "none of its frames can be decoded")
            }
        }
        guard let (picture, duration) = shown.takeFirst() else {
            throw .failed(reason: "a picture of \(path) was lost")
        }
        return SourceFrame(
            content: .picture(picture.pixelBuffer),
            duration: min(max(duration, .milliseconds(1)), Self.longestInterval))
    }
}

/// Pictures that have been shown and not been fetched yet.
private final class ShownPictures: Sendable {
    private let pictures = Mutex<[DecodedPicture]>([])

    func append(_ picture: DecodedPicture) { pictures.withLock { $0.append(picture) } }
    var count: Int { pictures.withLock { $0.count } }

    /// The first picture and how long it is shown.
    func takeFirst() -> (picture: DecodedPicture, duration: Duration)? {
        pictures.withLock { pictures in
            guard pictures.count > 1 else { return nil }
            let picture = pictures.removeFirst()
            return (picture, (pictures[0].presentationTime - picture.presentationTime).duration)
        }
    }
}
