import CLibAVFormat
import H264
import MediaCore
import NIOCore

/// libavformat's MP4 multiplexer, opened on one file.
final class Muxer {
    private let path: String
    private let context: UnsafeMutablePointer<AVFormatContext>
    private let packet: UnsafeMutablePointer<AVPacket>
    /// The last decoding time of each track, in its time base: libavformat wants them to rise.
    private var lastDecodeTimes: [Int64] = []
    /// The duration of the last interval of each track, for a last sample without a duration, which readers would
    /// otherwise leave out.
    private var lastIntervals: [Int64] = []
    /// Where the bytes go instead of to a file of the path.
    private let output: MovieFileOutput?
    /// Interrupts waits for the network; nil for files.
    private let interruption: Interruption?
    /// libavformat's error of what failed last.
    private(set) var lastError: Int32 = 0
    private var isHeaderWritten = false
    private var isClosed = false

    /// - Parameter file: Where the bytes go; nil: to a new file of this path.
    init(path: String, file: (any MovieFile)? = nil) throws(MediaFileError) {
        _ = LibAVFormat.prepare
        self.path = path
        output = file.flatMap { MovieFileOutput($0) }
        interruption = nil
        var allocated: UnsafeMutablePointer<AVFormatContext>?
        let url = LibAVFormat.url(path: path)
        var status = avformat_alloc_output_context2(&allocated, nil, "mp4", url)
        guard status >= 0, let context = allocated, let packet = av_packet_alloc() else {
            avformat_free_context(allocated)
            throw .cannotCreate(path: path, reason: LibAVFormat.message(min(status, LibAVFormat.outOfMemory)))
        }
        self.context = context
        self.packet = packet
        if let output {
            context.pointee.pb = output.context
            context.pointee.flags |= AVFMT_FLAG_CUSTOM_IO
            return
        }
        guard file == nil else {
            isClosed = true
            throw .cannotCreate(path: path, reason: LibAVFormat.message(LibAVFormat.outOfMemory))
        }
        status = avio_open(&context.pointee.pb, url, AVIO_FLAG_WRITE)
        guard status >= 0 else {
            isClosed = true
            throw .cannotCreate(path: path, reason: LibAVFormat.message(status))
        }
    }

    /// Lets libavformat ask, while it waits for the network, whether to give up. It holds the object's address.
    private final class Interruption {
        let isAbandoned: @Sendable () -> Bool
        var isForced = false

        init(_ isAbandoned: @escaping @Sendable () -> Bool) {
            self.isAbandoned = isAbandoned
        }
    }

    /// Connects to a server, which may take as long as `isAbandoned` lets it.
    init(
        to destination: StreamDestination, isAbandoned: @escaping @Sendable () -> Bool
    ) throws(StreamFailure) {
        _ = LibAVFormat.prepare
        path = destination.name
        output = nil
        let interruption = Interruption(isAbandoned)
        self.interruption = interruption
        var allocated: UnsafeMutablePointer<AVFormatContext>?
        var status = avformat_alloc_output_context2(
            &allocated, nil, destination.container.rawValue, destination.url)
        guard status >= 0, let context = allocated, let packet = av_packet_alloc() else {
            avformat_free_context(allocated)
            throw .failed(LibAVFormat.message(min(status, LibAVFormat.outOfMemory)))
        }
        self.context = context
        self.packet = packet
        context.pointee.interrupt_callback = AVIOInterruptCB(
            callback: { opaque in
                guard let opaque else { return 0 }
                let interruption = Unmanaged<Interruption>.fromOpaque(opaque).takeUnretainedValue()
                return interruption.isForced || interruption.isAbandoned() ? 1 : 0
            }, opaque: Unmanaged.passUnretained(interruption).toOpaque())
        var options: OpaquePointer?
        for (key, value) in destination.options { av_dict_set(&options, key, value, 0) }
        status = avio_open2(
            &context.pointee.pb, destination.url, AVIO_FLAG_WRITE, &context.pointee.interrupt_callback, &options)
        av_dict_free(&options)
        guard status >= 0 else {
            isClosed = true
            throw StreamFailure(status: status, isOpen: false)
        }
    }

    deinit {
        if !isClosed {
            // A server that was not told the end gets none: it may be the one that does not answer.
            interruption?.isForced = true
            _ = close()
        }
        var packet: UnsafeMutablePointer<AVPacket>? = packet
        av_packet_free(&packet)
        avformat_free_context(context)
    }

    func addVideoTrack(_ format: VideoFormatDescription) throws(MediaFileError) -> Int32 {
        let record = AVCDecoderConfigurationRecord(format: format).encode()
        return try addTrack(extradata: record, timescale: 90_000) { parameters in
            parameters.codec_type = AVMEDIA_TYPE_VIDEO
            parameters.codec_id = AV_CODEC_ID_H264
            parameters.width = Int32(clamping: format.dimensions.width)
            parameters.height = Int32(clamping: format.dimensions.height)
            parameters.sample_aspect_ratio = AVRational(
                num: Int32(clamping: format.pixelAspectRatio.width),
                den: Int32(clamping: format.pixelAspectRatio.height))
        }
    }

    func addOpusTrack(_ track: MovieWriter.OpusTrack) throws(MediaFileError) -> Int32 {
        // The identification header of RFC 7845, 5.1.
        var header = ByteBuffer(string: "OpusHead")
        header.writeInteger(1, as: UInt8.self)
        header.writeInteger(1, as: UInt8.self)
        header.writeInteger(UInt16(clamping: track.preSkip), endianness: .little)
        header.writeInteger(48_000, endianness: .little, as: UInt32.self)
        header.writeInteger(0, endianness: .little, as: UInt16.self)
        header.writeInteger(0, as: UInt8.self)
        return try addTrack(extradata: header, timescale: 48_000) { parameters in
            parameters.codec_type = AVMEDIA_TYPE_AUDIO
            parameters.codec_id = AV_CODEC_ID_OPUS
            parameters.sample_rate = 48_000
            parameters.frame_size = 960
            parameters.initial_padding = Int32(clamping: track.preSkip)
            av_channel_layout_default(&parameters.ch_layout, 1)
        }
    }

    private func addTrack(
        extradata: ByteBuffer, timescale: Int32, describe: (inout AVCodecParameters) -> Void
    ) throws(MediaFileError) -> Int32 {
        guard let stream = avformat_new_stream(context, nil), let parameters = stream.pointee.codecpar else {
            throw .cannotCreate(path: path, reason: LibAVFormat.message(LibAVFormat.outOfMemory))
        }
        describe(&parameters.pointee)
        let size = extradata.readableBytes
        guard let memory = av_mallocz(size + Int(AV_INPUT_BUFFER_PADDING_SIZE)) else {
            throw .cannotCreate(path: path, reason: LibAVFormat.message(LibAVFormat.outOfMemory))
        }
        extradata.withUnsafeReadableBytes { bytes in
            if let base = bytes.baseAddress { memory.copyMemory(from: base, byteCount: bytes.count) }
        }
        parameters.pointee.extradata = memory.assumingMemoryBound(to: UInt8.self)
        parameters.pointee.extradata_size = Int32(clamping: size)
        stream.pointee.time_base = AVRational(num: 1, den: timescale)
        lastDecodeTimes.append(.min)
        lastIntervals.append(Int64(timescale) / 30)
        return stream.pointee.index
    }

    /// Gives the movie a list of chapters, the earliest first; to be called before the header is written.
    ///
    /// - Parameter end: The end of the last one.
    func addChapters(_ chapters: [MovieChapter], end: Duration) throws(MediaFileError) {
        let chapters = chapters.prefix(MovieChapter.mostInMovie)
        guard !chapters.isEmpty else { return }
        let outOfMemory = MediaFileError.cannotCreate(path: path, reason: LibAVFormat.message(LibAVFormat.outOfMemory))
        guard let list = av_calloc(chapters.count, MemoryLayout<UnsafeMutablePointer<AVChapter>?>.stride) else {
            throw outOfMemory
        }
        // The context frees the list and its chapters.
        let pointers = list.assumingMemoryBound(to: UnsafeMutablePointer<AVChapter>?.self)
        context.pointee.chapters = pointers
        let ends = chapters.dropFirst().map(\.start) + [max(end, chapters.last?.start ?? end)]
        for (index, (chapter, end)) in zip(chapters, ends).enumerated() {
            guard let memory = av_mallocz(MemoryLayout<AVChapter>.size) else { throw outOfMemory }
            let made = memory.assumingMemoryBound(to: AVChapter.self)
            made.pointee.id = Int64(index)
            made.pointee.time_base = AVRational(num: 1, den: 1000)
            made.pointee.start = chapter.start.nanoseconds / 1_000_000
            made.pointee.end = end.nanoseconds / 1_000_000
            av_dict_set(&made.pointee.metadata, "title", chapter.shortTitle, 0)
            pointers[index] = made
            context.pointee.nb_chapters = UInt32(clamping: index + 1)
        }
    }

    /// Adds a track of one channel of AAC at 48 kHz.
    ///
    /// - Parameter configuration: The `AudioSpecificConfig`.
    func addAACTrack(_ configuration: ByteBuffer) throws(MediaFileError) -> Int32 {
        try addTrack(extradata: configuration, timescale: AACEncoder.sampleRate) { parameters in
            parameters.codec_type = AVMEDIA_TYPE_AUDIO
            parameters.codec_id = AV_CODEC_ID_AAC
            parameters.sample_rate = AACEncoder.sampleRate
            parameters.frame_size = Int32(AACEncoder.frameSize)
            av_channel_layout_default(&parameters.ch_layout, 1)
        }
    }

    /// Begins a file whose fragments end with `flush`, and whose times stay as they are.
    func writeHeaderOfStream() throws(MediaFileError) {
        var options: OpaquePointer?
        // Each track would count from its own first sample without "frag_discont". Without "skip_trailer", libavformat
        // would keep the place of each fragment for an index at the end: some 20 MB a day of a stream that has no end.
        let flags = "empty_moov+default_base_moof+frag_custom+frag_discont+skip_trailer"
        av_dict_set(&options, "movflags", flags, 0)
        // An edit list would move times by those by which the first frame is shown after it is decoded.
        av_dict_set(&options, "use_editlist", "0", 0)
        context.pointee.avoid_negative_ts = 0
        let status = avformat_write_header(context, &options)
        av_dict_free(&options)
        guard status >= 0 else { throw .cannotCreate(path: path, reason: LibAVFormat.message(status)) }
        isHeaderWritten = true
        avio_flush(context.pointee.pb)
    }

    /// Begins a stream for a server: each frame is sent at once.
    func writeHeaderOfBroadcast() throws(MediaFileError) {
        var options: OpaquePointer?
        // Nobody can go back in the stream to write these.
        av_dict_set(&options, "flvflags", "no_duration_filesize", 0)
        context.pointee.flags |= AVFMT_FLAG_FLUSH_PACKETS
        // Pictures may come five times a second; audio does not wait for them for longer.
        context.pointee.max_interleave_delta = 250_000
        let status = avformat_write_header(context, &options)
        av_dict_free(&options)
        try check(status)
        isHeaderWritten = true
    }

    /// The bytes that were written so far.
    var bytesWritten: Int64 { context.pointee.pb?.pointee.bytes_written ?? 0 }

    /// Begins a file. A fragmented one keeps to CMAF (ISO/IEC 23000-19), but for having several tracks.
    func writeHeader(_ layout: MovieWriter.Layout) throws(MediaFileError) {
        var options: OpaquePointer?
        if case .fragmented(let interval) = layout {
            let microseconds = max(interval.nanoseconds / 1000, 1)
            // Fragments by time: a stream may go without keyframes for its whole length. Several tracks count from the
            // beginning of the file, and not each from its own first sample.
            let flags = context.pointee.nb_streams > 1 ? "+frag_discont" : ""
            av_dict_set(&options, "movflags", "cmaf+empty_moov+default_base_moof\(flags)", 0)
            av_dict_set_int(&options, "frag_duration", microseconds, 0)
            // libavformat's file layer holds back 256 KiB, and a crash would lose them. With this flag each fragment
            // reaches the kernel when it is complete. Samples that wait for a fragment are not written by it.
            context.pointee.flags |= AVFMT_FLAG_FLUSH_PACKETS
            // A track without samples holds the others back for up to 10 s by default.
            context.pointee.max_interleave_delta = microseconds
        }
        let status = avformat_write_header(context, &options)
        av_dict_free(&options)
        guard status >= 0 else { throw .cannotCreate(path: path, reason: LibAVFormat.message(status)) }
        isHeaderWritten = true
    }

    /// - Parameter isInterleaved: Whether the sample may wait for one of another track.
    func write(
        _ data: ByteBuffer, track: Int32, presentationTime: MediaTime, decodeTime: MediaTime, duration: MediaTime?,
        isSync: Bool, isInterleaved: Bool = true
    ) throws(MediaFileError) {
        guard track >= 0, Int(track) < lastDecodeTimes.count, let stream = context.pointee.streams[Int(track)] else {
            throw .misuse(path: path, reason: "no such track")
        }
        // The multiplexer may have chosen another time base than it was asked for.
        let timescale = max(stream.pointee.time_base.den, 1)
        let presentation = presentationTime.converted(toTimescale: timescale)
        let wanted = decodeTime.converted(toTimescale: timescale)
        guard presentation.isNumeric, wanted.isNumeric else {
            throw .misuse(path: path, reason: "a sample at \(presentationTime), decoded at \(decodeTime), has no time")
        }
        let previous = lastDecodeTimes[Int(track)]
        let decode = max(wanted.value, Self.successor(of: previous))
        if previous != .min {
            let interval = decode &- previous
            // libavformat would write this sample and all that follow without intervals. Streams to servers have none.
            guard interruption != nil || (0..<Int64(Int32.max)).contains(interval) else {
                throw .misuse(
                    path: path,
                    reason: "a sample at \(presentationTime) comes too long after the one before for MP4; "
                        + "begin another file")
            }
            // What lasted longer was a pause.
            lastIntervals[Int(track)] = min(interval, Int64(timescale))
        }
        lastDecodeTimes[Int(track)] = decode
        guard let size = Int32(exactly: data.readableBytes) else {
            throw .cannotWrite(path: path, reason: "a sample of \(data.readableBytes) bytes is too large")
        }
        var status = av_new_packet(packet, size)
        guard status >= 0 else { throw .cannotWrite(path: path, reason: LibAVFormat.message(status)) }
        data.withUnsafeReadableBytes { bytes in
            if let base = bytes.baseAddress, let target = packet.pointee.data {
                UnsafeMutableRawPointer(target).copyMemory(from: base, byteCount: bytes.count)
            }
        }
        packet.pointee.stream_index = track
        packet.pointee.pts = max(presentation.value, decode)
        packet.pointee.dts = decode
        let length = duration?.converted(toTimescale: timescale)
        packet.pointee.duration =
            length.flatMap { $0.isNumeric ? $0.value : nil } ?? lastIntervals[Int(track)]
        packet.pointee.flags = isSync ? AV_PKT_FLAG_KEY : 0
        if isInterleaved {
            status = av_interleaved_write_frame(context, packet)
        } else {
            status = av_write_frame(context, packet)
            av_packet_unref(packet)
        }
        try check(status)
    }

    /// Completes the fragment that is being gathered and hands it to the operating system.
    func flush() throws(MediaFileError) {
        try check(av_write_frame(context, nil))
        avio_flush(context.pointee.pb)
        try check(0)
        // libavformat would move a sample that comes after a pause to the end that the last one was written with.
        try check(av_opt_set(context.pointee.priv_data, "movflags", "+frag_discont", 0))
    }

    private func check(_ status: Int32) throws(MediaFileError) {
        var status = status
        if status >= 0, let output = context.pointee.pb { status = output.pointee.error }
        guard status >= 0 else {
            lastError = status
            throw .cannotWrite(path: path, reason: output?.failure ?? LibAVFormat.message(status))
        }
    }

    private static func successor(of time: Int64) -> Int64 { time == .min ? .min : time &+ 1 }

    func finish() throws(MediaFileError) {
        guard !isClosed else { return }
        let status = close()
        guard status >= 0 else {
            lastError = status
            throw .cannotWrite(path: path, reason: output?.failure ?? LibAVFormat.message(status))
        }
    }

    /// Writes the trailer, if there is a header, and closes the file. The first error wins.
    private func close() -> Int32 {
        isClosed = true
        var status: Int32 = isHeaderWritten ? av_write_trailer(context) : 0
        if status >= 0, let output = context.pointee.pb { status = output.pointee.error }
        guard output == nil else {
            avio_flush(context.pointee.pb)
            if status >= 0, let output = context.pointee.pb { status = output.pointee.error }
            context.pointee.pb = nil
            return status
        }
        let closing = avio_closep(&context.pointee.pb)
        return status < 0 ? status : closing
    }
}
