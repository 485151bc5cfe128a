import MediaCore
import MediaFiles
import PixelTransfer
import Synchronization
import VideoCoding

/// Plays the H.264 video of a file through a `SampleBufferPlayer`, which requests samples as it needs them.
///
/// Times begin at zero with the file's first frame, and continue to rise when the file starts again.
final class MoviePlayback: Sendable {
    struct Options: Sendable {
        var path: String
        /// Frames per second of a raw stream, which has no times; nil for the stream's own rate, or 30.
        var untimedFrameRate: Double?
        var start: Duration = .zero
        /// True if the file starts again at its end.
        var loops = false
        var attributes = PixelBufferAttributes.any
        /// True if pictures of other sizes are scaled to the first one's.
        var keepsDimensions = false
    }

    let timebase: Timebase
    let player: SampleBufferPlayer
    /// The size of the upright pictures.
    let dimensions: VideoDimensions
    let frameRate: Double
    /// The duration of the file, if it is known.
    let duration: Duration?
    private let feed: Mutex<MovieFeed>
    private let failure = Mutex<ClientError?>(nil)

    /// Opens a file. The timebase stands still at `start`.
    ///
    /// - Parameter eventHandler: Called in the clock's context. `ended` may mean that the file cannot be read further:
    ///   `error` says so.
    /// - Throws: `ClientError.unreadableInput`, or `usage` for a start beyond the file's end.
    init(
        _ options: Options, clock: any MediaClock,
        eventHandler: @escaping @Sendable (SampleBufferPlayer.Event) -> Void
    ) throws(ClientError) {
        let start = MediaTime(options.start, timescale: 1_000_000_000)
        let rotation: VideoRotation
        var attributes = options.attributes
        do {
            let reader = try MovieReader(decodable: options.path)
            if let duration = reader.duration, options.start > .zero, options.start >= duration {
                throw ClientError.usage(
                    reason: "\(options.path) lasts \(duration.seconds) s, so that there is nothing to play from"
                        + " \(options.start.seconds) s on; start earlier")
            }
            rotation = reader.rotation
            dimensions = rotation.upright(reader.format.dimensions)
            if options.keepsDimensions { attributes.dimensions = reader.format.dimensions }
            duration = reader.duration
            let nominal = reader.hasPresentationTimes ? reader.nominalFrameRate : options.untimedFrameRate
            frameRate = min(max(nominal ?? reader.format.frameRate ?? 30, 0.1), 1000)
            feed = Mutex(try MovieFeed(reader, start: start, loops: options.loops))
        } catch {
            throw ClientError(reading: options.path, error)
        }
        let turner = rotation == .none ? nil : PictureTurner(rotation)
        if turner != nil { attributes.formats = [.i420] }
        timebase = Timebase(clock: clock)
        timebase.setTime(start)
        player = SampleBufferPlayer(
            timebase: timebase,
            configuration: .init(
                attributes: attributes, reordering: .complete,
                untimedPictureDuration: MediaTime(value: 1_000_000, timescale: 1_000_000)
                    .multiplied(by: 1_000_000, over: Int64(clamping: (frameRate * 1_000_000).rounded())))
        ) { event in
            guard let turner, case .picture(var picture) = event else { return eventHandler(event) }
            picture.pixelBuffer = turner.turn(picture.pixelBuffer)
            eventHandler(.picture(picture))
        }
        player.flush(showingFrom: start)
    }

    /// Begins to decode; the first picture is shown at once. Then `timebase` decides.
    func begin() {
        player.requestMediaData { [weak self] in self?.giveSamples() }
    }

    var error: ClientError? { failure.withLock { $0 } }

    private func giveSamples() {
        do throws(ClientError) {
            while player.isReadyForMoreMediaData {
                let decodedCount = player.statistics.decoded
                guard let sample = try feed.withLock({ feed throws(ClientError) in try feed.next(decodedCount) })
                else {
                    player.endOfMedia()
                    return
                }
                player.enqueue(sample)
            }
        } catch {
            failure.withLock { $0 = error }
            player.endOfMedia()
        }
    }
}
