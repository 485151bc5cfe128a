import MediaCore
import MediaFiles
import RoomAPI
import VideoCoding

/// The pictures of one video track at any time, decoded from its files.
final class TrackPictures {
    /// The time for which a picture stays after the end of its file.
    private static let afterglow = 0.5
    /// A file whose end is not known is that of a recording that was interrupted: its last picture stays no longer.
    private static let unknownEnd = 2.0

    private let files: [(path: String, start: Double, end: Double?)]
    private var current: Playback?
    /// Files without a complete fragment, of a recording that was interrupted: they have no picture.
    private var unreadable: Set<Int> = []

    /// - Parameter start: The time of the recording at which the film begins.
    init(_ files: [RecordedFile], folder: String, start: Double) {
        self.files = files.map { file in
            ("\(folder)/\(file.path)", file.start - start, file.duration.map { file.start - start + $0 })
        }
    }

    /// The newest picture at a time; nil where the track has none.
    func picture(at time: Double) -> PixelBuffer? {
        guard let index = files.lastIndex(where: { $0.start <= time + 1e-6 }) else { return nil }
        let file = files[index]
        if let end = file.end, time > end + Self.afterglow { return nil }
        if current?.index != index || (current?.time ?? 0) > time {
            guard !unreadable.contains(index) else { return nil }
            current = try? Playback(path: file.path, index: index, at: time - file.start)
        }
        guard let current else {
            unreadable.insert(index)
            return nil
        }
        current.time = time
        let picture = current.picture(at: time - file.start)
        if file.end == nil, let last = current.lastTime, time - file.start > last + Self.unknownEnd { return nil }
        return picture
    }

    /// One file that is being decoded.
    private final class Playback {
        let index: Int
        var time = 0.0
        private let reader: MovieReader
        private let decoder = DecodingPipeline()
        private var hasEnded = false
        private var pictures = DuePictures()

        init(path: String, index: Int, at time: Double) throws {
            self.index = index
            reader = try MovieReader(path: path)
            if time > 0 { try reader.seek(to: MediaTime(seconds: time, timescale: 90_000)) }
        }

        /// The time of the last picture, once all are decoded.
        var lastTime: Double? { hasEnded ? pictures.lastTime ?? 0 : nil }

        func picture(at time: Double) -> PixelBuffer? {
            while !hasEnded, pictures.lastTime ?? time <= time {
                // A file that ends in the middle of a frame is read as far as it goes.
                guard let sample = try? reader.nextSample() else {
                    hasEnded = true
                    decoder.finishDelayedFrames { take($0, at: time) }
                    break
                }
                decoder.decode(sample) { take($0, at: time) }
            }
            return pictures.picture(at: time)
        }

        private func take(_ event: DecodingEvent, at time: Double) {
            guard case .output(let output) = event, case .picture(let picture) = output.result else { return }
            // A frame that is shown a rounding after its time is due.
            pictures.append(picture.pixelBuffer, at: picture.presentationTime.seconds - 1e-6)
            pictures.drop(until: time)
        }
    }
}

/// Decoded pictures in the order in which they are shown; the first is the newest that is due.
///
/// Pictures are dropped as they are decoded: the way from a keyframe to the picture that is wanted may be an hour long.
struct DuePictures {
    private var pictures: [(time: Double, picture: PixelBuffer)] = []

    var count: Int { pictures.count }
    var lastTime: Double? { pictures.last?.time }

    mutating func append(_ picture: PixelBuffer, at time: Double) { pictures.append((time, picture)) }

    /// Drops those that are not to be seen from this time on.
    mutating func drop(until time: Double) {
        while pictures.count > 1, pictures[1].time <= time { pictures.removeFirst() }
    }

    /// The newest picture at a time.
    mutating func picture(at time: Double) -> PixelBuffer? {
        drop(until: time)
        return pictures.first.flatMap { $0.time <= time ? $0.picture : nil }
    }
}
