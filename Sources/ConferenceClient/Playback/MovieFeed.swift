import MediaCore
import MediaFiles

/// The samples of a file, with times that begin at zero and continue to rise when the file starts again.
struct MovieFeed {
    private let reader: MovieReader
    private let loops: Bool
    /// The file's time that is time zero, for the round that is being read.
    private var origin: MediaTime
    private let firstTime: MediaTime
    private var pending: SampleBuffer?
    /// The end of the latest sample so far.
    private var end = MediaTime.zero
    private var decodedCount = 0
    private var fruitlessCount = 0

    /// The number of consecutive samples without a picture that proves that the file cannot be decoded.
    private static let maximumFruitlessCount = 300

    /// - Parameter start: The start time; the first samples may be earlier ones that decoding needs.
    init(_ reader: MovieReader, start: MediaTime, loops: Bool) throws {
        guard let first = try reader.nextSample() else {
            throw ClientError.unreadableInput(path: reader.path, reason: "it has no frames")
        }
        self.reader = reader
        self.loops = loops
        // Frames at times below zero are needed for those after them, and an edit list has cut them away.
        firstTime = max(try first.isShown ? first.presentationTime : Self.firstShownTime(reader), .zero)
        origin = firstTime
        if start > .zero, reader.hasPresentationTimes {
            try reader.seek(to: firstTime + start)
        } else if first.isShown {
            pending = first
        } else {
            try reader.rewind()
        }
    }

    /// The time of the picture that is shown first of a film of which an edit list has cut the first frames away; zero
    /// if it has cut all away.
    private static func firstShownTime(_ reader: MovieReader) throws -> MediaTime {
        var first: MediaTime?
        var left = mostReorderedFrames
        while left > 0, let sample = try reader.nextSample() {
            if sample.isShown { first = min(first ?? sample.presentationTime, sample.presentationTime) }
            if first != nil { left -= 1 }
        }
        return first ?? .zero
    }

    /// H.264 has no more frames that are decoded before they are shown (A.3.1).
    private static let mostReorderedFrames = 17

    /// The next sample; nil at the end of a file that does not start again.
    ///
    /// - Parameter decodedCount: The number of pictures decoded so far.
    mutating func next(_ decodedCount: Int) throws(ClientError) -> SampleBuffer? {
        fruitlessCount = decodedCount > self.decodedCount ? 0 : fruitlessCount + 1
        self.decodedCount = decodedCount
        guard fruitlessCount <= Self.maximumFruitlessCount else {
            throw .unreadableInput(path: reader.path, reason: "none of its frames can be decoded")
        }
        do {
            var sample = try pending ?? reader.nextSample()
            pending = nil
            if sample == nil, reader.hasPresentationTimes, end == .zero {
                throw ClientError.unreadableInput(path: reader.path, reason: "its edit list has cut all frames away")
            }
            if sample == nil, loops {
                try reader.rewind()
                sample = try reader.nextSample()
                origin = firstTime - end
            }
            return sample.map { timed($0) }
        } catch {
            throw ClientError(reading: reader.path, error)
        }
    }

    private mutating func timed(_ sample: SampleBuffer) -> SampleBuffer {
        var sample = sample
        guard reader.hasPresentationTimes else {
            // The player shows such pictures one after another, in the order in which they come out of the decoder.
            sample.presentationTime = .invalid
            return sample
        }
        sample.presentationTime = sample.presentationTime - origin
        sample.decodeTime = sample.decodeTime.map { $0 - origin }
        let duration =
            sample.duration
            ?? MediaTime(seconds: 1 / max(reader.nominalFrameRate ?? 30, 0.1), timescale: 90_000)
        if sample.isShown { end = max(end, sample.presentationTime + duration) }
        return sample
    }
}
