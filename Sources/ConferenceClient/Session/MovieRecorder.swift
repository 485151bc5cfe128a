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
    private let hasAudio: Bool
    private var writer: MovieWriter?
    private var failure: ClientError?
    /// The instant of the movie's time zero.
    private var start = MonotonicInstant.zero
    /// Each stream's first time, on its own clock and on the machine's.
    private var videoOrigin: (time: MediaTime, arrival: MonotonicInstant)?
    private var audioOrigin: (time: Int64, arrival: MonotonicInstant)?
    private var audioTimes = TimestampUnwrapper()
    private var lastAudioSequence: Int64?

    /// Checks that the file can be written, and leaves it empty until the first keyframe comes.
    ///
    /// - Throws: `ClientError.outputNotWritable`.
    init(path: String, hasAudio: Bool) throws(ClientError) {
        self.path = path
        self.hasAudio = hasAudio
        try ClientError.rethrowing { () throws(MediaFileError) in try OutputFile.check(path) }
    }

    /// Writes a frame; the movie begins with the first keyframe. Call on `queue` only.
    func append(_ sample: SampleBuffer, arrival: MonotonicInstant) {
        guard failure == nil else { return }
        do {
            if writer == nil {
                guard sample.isSync else { return }
                writer = try MovieWriter(path: path, video: sample.format, audio: hasAudio ? .init() : nil)
                start = arrival
            }
            let origin = videoOrigin ?? (sample.presentationTime, arrival)
            videoOrigin = origin
            var sample = sample
            sample.presentationTime =
                sample.presentationTime - origin.time + MediaTime(origin.arrival - start, timescale: 90_000)
            try writer?.append(sample)
        } catch {
            failure = .outputNotWritable(path: path, reason: "\(error)")
        }
    }

    /// Writes an Opus packet; late ones are left out. Call it on `queue` only.
    func append(opus payload: ByteBuffer, rtpTimestamp: UInt32, sequence: Int64, arrival: MonotonicInstant) {
        guard failure == nil, let writer, hasAudio, sequence > lastAudioSequence ?? .min else { return }
        lastAudioSequence = sequence
        let time = audioTimes.unwrap(rtpTimestamp)
        let origin = audioOrigin ?? (time, arrival)
        audioOrigin = origin
        do {
            try writer.append(
                opus: payload,
                presentationTime: MediaTime(value: time - origin.time, timescale: 48_000)
                    + MediaTime(origin.arrival - start, timescale: 48_000),
                duration: MediaTime(value: 960, timescale: 48_000))
        } catch {
            failure = .outputNotWritable(path: path, reason: "\(error)")
        }
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
