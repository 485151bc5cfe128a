import Dispatch
import MediaCore
import MediaFiles
import NIOCore
import RTP

/// Records received streams without encoding them again.
///
/// `@unchecked Sendable` holds because all variable state is used only inside blocks on `queue`, a serial queue.
final class MovieRecorder: @unchecked Sendable {
    let queue = DispatchQueue(label: "confclient.record")
    private let path: String
    private var writer: MovieWriter?
    private var failure: ClientError?
    /// The instant of the movie's time zero.
    private var start = MonotonicInstant.zero
    /// Each stream's first time, on its own clock and on the machine's.
    private var videoOrigin: (time: MediaTime, arrival: MonotonicInstant)?
    private var audioOrigin: (time: Int64, arrival: MonotonicInstant)?
    private var audioTimes = TimestampUnwrapper()
    private var lastAudioSequence: Int64?
    /// The place of the newest frame in the movie and on the sender's clock.
    private var videoPlace: (time: MediaTime, senderTime: NTPTime)?
    /// How much later the audio belongs than its arrival says; nil until the sender has told.
    private var audioShift: MediaTime?
    /// The place of the last packet in the movie.
    private var lastAudioPlace: MediaTime?

    /// A sender that puts the audio farther away is not believed.
    private static let longestShift = Duration.seconds(3)

    /// Checks that the file can be written, and leaves it empty until the first keyframe comes.
    ///
    /// - Throws: `ClientError.outputNotWritable`.
    init(path: String) throws(ClientError) {
        self.path = path
        try ClientError.rethrowing { () throws(MediaFileError) in try OutputFile.check(path) }
    }

    /// Writes a frame; the movie begins with the first keyframe. Call on `queue` only.
    ///
    /// - Parameter senderTime: When it was captured, on its sender's clock.
    func append(_ sample: SampleBuffer, arrival: MonotonicInstant, senderTime: NTPTime? = nil) {
        guard failure == nil else { return }
        do {
            if writer == nil {
                guard sample.isSync else { return }
                writer = try MovieWriter(path: path, video: sample.format, audio: .init())
                start = arrival
            }
            let origin = videoOrigin ?? (sample.presentationTime, arrival)
            videoOrigin = origin
            var sample = sample
            sample.presentationTime =
                sample.presentationTime - origin.time + MediaTime(origin.arrival - start, timescale: 90_000)
            if let senderTime { videoPlace = (sample.presentationTime, senderTime) }
            try writer?.append(sample)
        } catch {
            failure = .outputNotWritable(path: path, reason: "\(error)")
        }
    }

    /// Writes an Opus packet; late ones are left out. Call it on `queue` only.
    ///
    /// - Parameter senderTime: When it was captured, on its sender's clock.
    func append(
        opus payload: ByteBuffer, rtpTimestamp: UInt32, sequence: Int64, arrival: MonotonicInstant,
        senderTime: NTPTime? = nil
    ) {
        guard failure == nil, let writer, sequence > lastAudioSequence ?? .min else { return }
        lastAudioSequence = sequence
        let time = audioTimes.unwrap(rtpTimestamp)
        let origin = audioOrigin ?? (time, arrival)
        audioOrigin = origin
        let place =
            MediaTime(value: time - origin.time, timescale: 48_000)
            + MediaTime(origin.arrival - start, timescale: 48_000)
        if audioShift == nil, let senderTime { audioShift = shift(ofAudioAt: place, senderTime: senderTime) }
        let shifted = place + (audioShift ?? .zero)
        // A corrected place may lie before audio that is already written, or before the first picture.
        guard shifted >= .zero, lastAudioPlace.map({ shifted > $0 }) ?? true else { return }
        lastAudioPlace = shifted
        do {
            try writer.append(
                opus: payload, presentationTime: shifted, duration: MediaTime(value: 960, timescale: 48_000))
        } catch {
            failure = .outputNotWritable(path: path, reason: "\(error)")
        }
    }

    /// How much later audio belongs than at `place`, by the sender's clock.
    ///
    /// The first packets of both streams say little of it: a relay that is busy sends its first keyframe late.
    private func shift(ofAudioAt place: MediaTime, senderTime: NTPTime) -> MediaTime? {
        guard let videoPlace else { return nil }
        let wanted = senderTime.duration(since: videoPlace.senderTime) - (place - videoPlace.time).duration
        let isPlausible = wanted.nanoseconds.magnitude <= Self.longestShift.nanoseconds.magnitude
        return isPlausible ? MediaTime(wanted, timescale: 48_000) : .zero
    }

    /// Ends the file. Call it on `queue` only.
    ///
    /// - Throws: `ClientError.outputNotWritable`, also for earlier failures; `.noMedia` if no keyframe came.
    func finish() throws(ClientError) {
        if let failure { throw failure }
        guard let writer else {
            throw .noMedia(reason: "no keyframe arrived, so that \(path) is empty")
        }
        do {
            try writer.finish()
        } catch {
            throw .outputNotWritable(path: path, reason: "\(error)")
        }
    }
}
