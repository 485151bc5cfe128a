import MediaCore
import MediaFiles
import RoomAPI

/// One file of a track, while it is written.
final class TrackFile {
    private(set) var description: RecordedFile
    let format: VideoFormatDescription?
    private let file: any RecordingFile
    private let writer: MovieWriter
    /// The file's time zero on the recording's clock.
    private let start: MediaTime
    private var end: MediaTime
    private var decodeTimes = DecodeTimes()
    /// The file's size behind the last complete fragment.
    private var completeSize = 0
    /// When the first sample of the unfinished fragment came; nil without one.
    private var unfinishedSince: MonotonicInstant?
    private(set) var isSynchronized = true

    /// - Throws: `MediaFileError` or `RecordingFileError`.
    init(
        track: RecordingTrack, path: String, file: any RecordingFile, format: VideoFormatDescription?, start: MediaTime
    ) throws {
        self.file = file
        self.format = format
        // Fragmented files count from the first decode time, which is earlier where frames are reordered.
        let start = start - MediaTime(value: Int64(format?.reorderDepth ?? 0), timescale: 30)
        self.start = start
        end = start
        writer = try MovieWriter(
            to: file, name: path, video: format,
            hasAudio: format == nil || track == .composite, fragment: RecordingSettings.fragment)
        description = RecordedFile(
            path: path, track: track, start: start.seconds, width: format?.dimensions.width,
            height: format?.dimensions.height)
        completeSize = file.size
    }

    /// The reason why the file cannot be written; nil if there is none.
    var failure: RecordingFileError? { file.failure }

    func append(_ sample: SampleBuffer, now: MonotonicInstant) throws {
        var sample = sample
        end = max(end, sample.presentationTime)
        sample.presentationTime = sample.presentationTime - start
        sample.decodeTime = decodeTimes.next(for: sample)
        try writer.append(sample)
        written(now: now)
    }

    func append(_ opus: BlockBuffer, time: MediaTime, duration: MediaTime, now: MonotonicInstant) throws {
        // Audio from before the first picture of this file is in the file before.
        guard time >= start else { return }
        end = max(end, time + duration)
        try writer.append(opus: opus.contiguous(), presentationTime: time - start, duration: duration)
        written(now: now)
    }

    private func written(now: MonotonicInstant) {
        description.samples = (description.samples ?? 0) + 1
        if file.size > completeSize {
            completeSize = file.size
            isSynchronized = false
            unfinishedSince = nil
        }
        if unfinishedSince == nil { unfinishedSince = now }
    }

    /// Writes out a fragment to which nothing was added for so long that it does not end by itself.
    func flushIfDue(now: MonotonicInstant) throws {
        guard let unfinishedSince, now - unfinishedSince >= RecordingSettings.fragment else { return }
        try writer.flush()
        self.unfinishedSince = nil
        if file.size > completeSize { isSynchronized = false }
        completeSize = file.size
    }

    func synchronize() throws(RecordingFileError) {
        guard !isSynchronized else { return }
        try file.synchronize()
        isSynchronized = true
    }

    /// Completes the file and closes it. One that cannot be completed stays open: it is to be abandoned.
    func finish() throws {
        description.duration = (end - start).seconds
        try writer.finish()
        try file.synchronize()
        file.close()
    }

    /// Leaves the file as it was behind its last complete fragment.
    func abandon() {
        description.duration = (end - start).seconds
        file.truncate(to: completeSize)
        file.close()
    }
}

/// Decode times for frames of which only the presentation times are known. In streams with reordered frames, a frame is
/// decoded at the time at which the one is shown that stands in its place in order of presentation.
private struct DecodeTimes {
    private var waiting: [MediaTime] = []
    private var last: MediaTime?

    mutating func next(for sample: SampleBuffer) -> MediaTime? {
        let depth = sample.format.reorderDepth
        guard depth > 0 else { return nil }
        let index = waiting.firstIndex { $0 > sample.presentationTime } ?? waiting.endIndex
        waiting.insert(sample.presentationTime, at: index)
        let time =
            waiting.count > depth
            ? waiting.removeFirst()
            : sample.presentationTime - MediaTime(value: Int64(depth + 1 - waiting.count), timescale: 30)
        let decode = min(max(time, last ?? time), sample.presentationTime)
        last = decode
        return decode
    }
}
