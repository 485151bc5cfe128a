import CLibAVFormat
import H264
public import MediaCore
public import NIOCore

/// Writes an MP4 file: an H.264 track with unchanged frames, an Opus track, or both.
///
/// It is not thread-safe and serves one caller at a time. Changed parameter sets are written inside the samples, which
/// decoders with support for in-band parameter sets can play; the track's header keeps the first size.
public final class MovieWriter {
    /// The layout of the file.
    public enum Layout: Sendable, Hashable {
        /// Self-contained fragments of about this length. Each fragment is handed to the operating system when it is
        /// complete, so a crash of the program loses at most the last fragment. The times of a movie with one track
        /// count from its first sample, whenever that is; those of one with two tracks stay as they are.
        case fragmented(every: Duration)
        /// One index at the file's end, written by `finish`: the most widely understood form.
        case indexAtEnd
    }

    /// The header of an Opus track of one channel (RFC 7845, 5.1).
    public struct OpusTrack: Sendable, Hashable {
        /// Samples at 48 kHz that a decoder throws away at the start.
        public var preSkip: Int

        public init(preSkip: Int = 312) {
            self.preSkip = preSkip
        }
    }

    public let path: String
    private let muxer: Muxer
    private let videoTrack: Int32?
    private let audioTrack: Int32?
    private var currentParameterSets: [ByteBuffer]
    /// True once other parameter sets than those of the track's header have been written.
    private var hasChangedParameterSets = false
    private var isFinished = false
    /// Frames and Opus packets written so far.
    public private(set) var videoSampleCount = 0
    public private(set) var audioPacketCount = 0

    /// Begins a fragmented movie in a file of the caller's, as CMAF has it (ISO/IEC 23000-19), but for a file with both
    /// tracks, where each fragment has both. Times are those of `Layout.fragmented`.
    ///
    /// - Parameters:
    ///   - file: Takes the bytes.
    ///   - name: The file's name, for errors.
    ///   - video: The format of the frames; nil: there are none.
    ///   - hasAudio: Whether there is a track of Opus.
    /// - Throws: `MediaFileError` if the header cannot be written.
    public init(
        to file: any MovieFile, name: String, video format: VideoFormatDescription?, hasAudio: Bool, fragment: Duration
    ) throws(MediaFileError) {
        path = name
        muxer = try Muxer(path: name, file: file)
        videoTrack = if let format { try muxer.addVideoTrack(format) } else { nil }
        audioTrack = hasAudio ? try muxer.addOpusTrack(OpusTrack()) : nil
        currentParameterSets = format?.parameterSets ?? []
        try muxer.writeHeader(.fragmented(every: fragment))
    }

    /// Creates the file, and replaces an existing one.
    ///
    /// - Parameters:
    ///   - chapters: The list of chapters, the earliest first.
    ///   - duration: How long the movie is going to be: the last chapter's end.
    /// - Throws: `MediaFileError.cannotCreate` if the file cannot be created or the header cannot be written.
    public init(
        path: String, video format: VideoFormatDescription, audio: OpusTrack? = nil,
        layout: Layout = .fragmented(every: .seconds(1)), chapters: [MovieChapter] = [], duration: Duration = .zero
    ) throws(MediaFileError) {
        self.path = path
        muxer = try Muxer(path: path)
        videoTrack = try muxer.addVideoTrack(format)
        audioTrack = if let audio { try muxer.addOpusTrack(audio) } else { nil }
        currentParameterSets = format.parameterSets
        try muxer.addChapters(chapters, end: duration)
        try muxer.writeHeader(layout)
    }

    /// Writes a frame. Frames come in decoding order; those of streams with B-frames need decode times.
    ///
    /// - Throws: `MediaFileError.cannotWrite`, or `.misuse` after `finish`, for a time that is no number, and for one
    ///   that is more than 2³¹ ticks, 6.6 hours, after the frame before.
    public func append(_ sample: SampleBuffer) throws(MediaFileError) {
        guard !isFinished else { throw .misuse(path: path, reason: "the movie is finished") }
        guard let videoTrack else { throw .misuse(path: path, reason: "the movie has no video track") }
        var data = sample.data.contiguous()
        let parameterSets = sample.format.parameterSets
        let isChange = parameterSets != currentParameterSets
        // A player that jumps has those of the place before, even where these are the header's again.
        if isChange || (hasChangedParameterSets && sample.isSync) {
            let frame = data
            data = LengthPrefixed.encode(parameterSets.compactMap { NALUnit($0) })
            data.writeImmutableBuffer(frame)
        }
        try muxer.write(
            data, track: videoTrack, presentationTime: sample.presentationTime,
            decodeTime: sample.decodeTime ?? sample.presentationTime, duration: sample.duration, isSync: sample.isSync)
        hasChangedParameterSets = hasChangedParameterSets || isChange
        currentParameterSets = parameterSets
        videoSampleCount += 1
    }

    /// Writes an Opus packet.
    ///
    /// - Throws: `MediaFileError.cannotWrite`, or `.misuse` if the movie has no audio track or is finished, or the time
    ///   is no number, or more than 2³¹ samples, 12.4 hours, after the packet before.
    public func append(
        opus packet: ByteBuffer, presentationTime: MediaTime, duration: MediaTime? = nil
    ) throws(MediaFileError) {
        guard !isFinished else { throw .misuse(path: path, reason: "the movie is finished") }
        guard let audioTrack else { throw .misuse(path: path, reason: "the movie has no audio track") }
        try muxer.write(
            packet, track: audioTrack, presentationTime: presentationTime, decodeTime: presentationTime,
            duration: duration, isSync: true)
        audioPacketCount += 1
    }

    /// Ends the current fragment ahead of its time and hands it to the operating system.
    ///
    /// - Throws: `MediaFileError.cannotWrite`, or `.misuse` after `finish`.
    public func flush() throws(MediaFileError) {
        guard !isFinished else { throw .misuse(path: path, reason: "the movie is finished") }
        try muxer.flush()
    }

    /// Writes buffered data and the index, and closes the file. A second call does nothing. A movie that is released
    /// unfinished is finished as well, but its errors are lost.
    ///
    /// - Throws: `MediaFileError.cannotWrite`.
    public func finish() throws(MediaFileError) {
        guard !isFinished else { return }
        isFinished = true
        try muxer.finish()
    }
}
