import CLibAVFormat
import Glibc
import MediaCore
import NIOCore

/// Reads a film or a live stream of any kind that libavformat takes apart: its best video and its best audio, packet by
/// packet.
///
/// Calls may wait for the network, until `isAbandoned` says that the wait is too long. It is not thread-safe.
public final class MediaInput {
    /// The streams that are read; at least one.
    public let video: MediaCoding?
    public let audio: MediaCoding?
    /// The length of a film; nil if it has none, or does not tell.
    public let duration: Duration?
    public let isSeekable: Bool

    private let access: Access
    private let context: UnsafeMutablePointer<AVFormatContext>
    /// The time of the beginning, in microseconds as libavformat counts.
    private let start: Int64
    private let flac: OggFLACBeginning?
    /// Packets that a seek has read to find out where it led.
    private var ahead = CircularBuffer<MediaPacket>()
    /// The time of the first packet.
    private var first: Duration?

    /// The rights of libavformat, which holds the object's address.
    private final class Access {
        let opener: (any MediaOpener)?
        let isAbandoned: @Sendable () -> Bool
        /// The files that are open, besides the source.
        var readers: [UnsafeMutablePointer<AVIOContext>: MediaBytesReader] = [:]

        init(_ opener: (any MediaOpener)?, isAbandoned: @escaping @Sendable () -> Bool) {
            self.opener = opener
            self.isAbandoned = isAbandoned
        }

        static func of(_ context: UnsafeMutablePointer<AVFormatContext>?) -> Access? {
            context?.pointee.opaque.map { Unmanaged<Access>.fromOpaque($0).takeUnretainedValue() }
        }

        /// - Parameter part: The part of the file that is read.
        func open(
            _ url: String, part: Range<Int64> = 0..<Int64.max
        ) -> Result<UnsafeMutablePointer<AVIOContext>, StreamFailure> {
            guard let opener, readers.count < MediaInput.mostFiles else { return .failure(.refused) }
            do throws(StreamFailure) {
                guard let reader = MediaBytesReader(try opener.open(url), part: part) else {
                    return .failure(.failed("no memory"))
                }
                readers[reader.context] = reader
                return .success(reader.context)
            } catch {
                return .failure(error)
            }
        }
    }

    /// The files of a source that may be open at the same time.
    private static let mostFiles = 16
    /// The streams that are looked at.
    private static let mostStreams: Int32 = 64
    /// The packets that a seek reads at most to find a keyframe.
    private static let mostAhead = 8192
    /// The seconds before its place at which a seek looks for a keyframe.
    private static let seekMargins: [Int64] = [0, 1, 4, 16, 64]
    /// The bytes that are read at most to find out about the streams.
    private static let probeSize: Int64 = 4 << 20
    private static let analysisOfLive: Int64 = 2_000_000
    private static let analysisOfFilms: Int64 = 5_000_000
    /// The formats that libavformat may recognise. It has many more, which nobody streams and few people have examined.
    private static let formats =
        "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,mpegts,flv,live_flv,hls,rtsp,avi,ogg,mp3,wav,flac,aac,mpeg,h264,"
        + "hevc,ivf,mxf,asf"

    /// Opens a source and finds its streams.
    ///
    /// - Parameter isAbandoned: Is asked, about ten times a second while libavformat waits, whether to give up.
    public init(_ source: MediaSource, isAbandoned: @escaping @Sendable () -> Bool) throws(StreamFailure) {
        _ = LibAVFormat.prepare
        avformat_network_init()
        access = Access(source.opener, isAbandoned: isAbandoned)
        let opened = try Self.open(source, access)
        do throws(StreamFailure) {
            let status = avformat_find_stream_info(opened, nil)
            guard status >= 0 else { throw StreamFailure(status: status, isOpen: true) }
            guard !isAbandoned() else { throw .timedOut }
            flac = source.isLive ? nil : OggFLACBeginning(of: opened)
            let start = flac?.start ?? opened.pointee.start_time
            self.start = start == LibAVFormat.noTimestamp ? 0 : start
            video = Self.coding(of: AVMEDIA_TYPE_VIDEO, in: opened, start: self.start)
            audio = Self.coding(of: AVMEDIA_TYPE_AUDIO, in: opened, start: self.start)
            guard video != nil || audio != nil else {
                throw .failed("it has neither video nor audio that can be decoded")
            }
        } catch {
            Self.close(opened)
            throw error
        }
        context = opened
        let early = Duration.microseconds(flac?.start ?? 0)
        duration = source.isLive ? nil : LibAVFormat.length(of: opened).flatMap { $0 > early ? $0 - early : nil }
        isSeekable = duration != nil && (opened.pointee.pb?.pointee.seekable ?? 0) != 0
        for index in 0..<Int(opened.pointee.nb_streams) {
            guard let stream = opened.pointee.streams[index] else { continue }
            let isRead = [video, audio].contains { $0?.index == stream.pointee.index }
            stream.pointee.discard = isRead ? AVDISCARD_DEFAULT : AVDISCARD_ALL
        }
    }

    private static func open(
        _ source: MediaSource, _ access: Access
    ) throws(StreamFailure) -> UnsafeMutablePointer<AVFormatContext> {
        do throws(StreamFailure) {
            return try openWhole(source, access)
        } catch {
            guard let fragments = source.wholeFragments(isAbandoned: access.isAbandoned),
                let opened = try? openWhole(fragments, access)
            else { throw error }
            return opened
        }
    }

    private static func openWhole(
        _ source: MediaSource, _ access: Access
    ) throws(StreamFailure) -> UnsafeMutablePointer<AVFormatContext> {
        guard let context = avformat_alloc_context() else { throw .failed("no memory") }
        connect(context, to: access)
        context.pointee.max_streams = mostStreams
        context.pointee.probesize = probeSize
        context.pointee.max_analyze_duration = source.isLive ? analysisOfLive : analysisOfFilms
        var options = Self.options(of: source)
        defer { av_dict_free(&options) }
        var status: Int32 = 0
        var url = source.url
        if source.opener != nil {
            switch access.open(url) {
            case .success(let opened):
                context.pointee.pb = opened
                url = access.readers[opened]?.location ?? url
            case .failure(let failure):
                avformat_free_context(context)
                throw failure
            }
        } else if !source.isSession {
            var callback = context.pointee.interrupt_callback
            status = avio_open2(&context.pointee.pb, url, AVIO_FLAG_READ, &callback, &options)
        }
        guard status >= 0 else {
            avformat_free_context(context)
            throw StreamFailure(status: status, isOpen: false)
        }
        let file = context.pointee.pb
        var opened: UnsafeMutablePointer<AVFormatContext>? = context
        status = avformat_open_input(&opened, url, nil, &options)
        guard status >= 0, let opened else {
            // libavformat has freed the context, but not a file that it did not open.
            close(file, isOwn: source.opener != nil)
            throw status == LibAVFormat.invalidData
                ? .failed("it is no film or stream of a kind that is known")
                : StreamFailure(status: status, isOpen: false)
        }
        return opened
    }

    /// Has libavformat ask `access` whether to go on, and for the files that a playlist names.
    private static func connect(_ context: UnsafeMutablePointer<AVFormatContext>, to access: Access) {
        context.pointee.interrupt_callback = AVIOInterruptCB(
            callback: { opaque in
                guard let opaque else { return 0 }
                return Unmanaged<Access>.fromOpaque(opaque).takeUnretainedValue().isAbandoned() ? 1 : 0
            }, opaque: Unmanaged.passUnretained(access).toOpaque())
        context.pointee.opaque = Unmanaged.passUnretained(access).toOpaque()
        context.pointee.io_open = { context, target, url, flags, options in
            guard let access = Access.of(context), let target, let url, flags & AVIO_FLAG_WRITE == 0 else {
                return Int32(-EPERM)
            }
            switch access.open(String(cString: url), part: MediaInput.part(in: options?.pointee)) {
            case .success(let opened):
                target.pointee = opened
                return 0
            case .failure: return Int32(-EPERM)
            }
        }
        context.pointee.io_close2 = { context, file in
            guard let file else { return 0 }
            Access.of(context)?.readers[file] = nil
            return 0
        }
    }

    /// What libavformat may read of a source, and how; the caller frees it.
    private static func options(of source: MediaSource) -> OpaquePointer? {
        var options: OpaquePointer?
        for (key, value) in source.options { av_dict_set(&options, key, value, 0) }
        av_dict_set(&options, "format_whitelist", formats, 0)
        av_dict_set(&options, "protocol_whitelist", source.protocols.isEmpty ? "none" : source.protocols, 0)
        // libavformat would ask its own connection for these, and there is none.
        if source.opener != nil {
            av_dict_set(&options, "http_persistent", "0", 0)
            av_dict_set(&options, "http_multiple", "0", 0)
        }
        return options
    }

    /// The part of a file that a playlist names: libavformat states it as to its own connections.
    private static func part(in options: OpaquePointer?) -> Range<Int64> {
        func number(_ name: String) -> Int64? {
            guard let entry = av_dict_get(options, name, nil, 0), let text = entry.pointee.value else { return nil }
            return Int64(String(cString: text)).flatMap { (0...MediaBytesReader.largestPlace).contains($0) ? $0 : nil }
        }
        let start = number("offset") ?? 0
        let end = number("end_offset") ?? .max
        return start..<max(start, end)
    }

    private static func close(_ context: UnsafeMutablePointer<AVFormatContext>) {
        let file = context.pointee.pb
        let isOwn = file.map { Access.of(context)?.readers[$0] != nil } ?? false
        let isGiven = context.pointee.flags & AVFMT_FLAG_CUSTOM_IO != 0
        var context: UnsafeMutablePointer<AVFormatContext>? = context
        avformat_close_input(&context)
        if isGiven { close(file, isOwn: isOwn) }
    }

    /// Closes the file of a source, unless its reader owns it.
    private static func close(_ file: UnsafeMutablePointer<AVIOContext>?, isOwn: Bool) {
        if !isOwn { avio_close(file) }
    }

    deinit {
        Self.close(context)
    }

    private static func coding(
        of type: AVMediaType, in context: UnsafeMutablePointer<AVFormatContext>, start: Int64
    ) -> MediaCoding? {
        let index = av_find_best_stream(context, type, -1, -1, nil, 0)
        guard index >= 0, index < Int32(clamping: context.pointee.nb_streams),
            let stream = context.pointee.streams[Int(index)]
        else { return nil }
        return MediaCoding(stream, start: start)
    }

    /// The next packet of the streams that are read; nil at the end.
    public func next() throws(StreamFailure) -> MediaPacket? {
        if let packet = ahead.popFirst() { return packet }
        return try read()
    }

    private func read() throws(StreamFailure) -> MediaPacket? {
        while true {
            guard let packet = MediaPacket() else { throw .failed("no memory") }
            let status = av_read_frame(context, packet.packet)
            if status == LibAVFormat.endOfFile { return nil }
            guard status >= 0 else { throw StreamFailure(status: status, isOpen: true) }
            for coding in [video, audio] {
                guard let coding, packet.packet.pointee.stream_index == coding.index else { continue }
                flac?.correct(packet.packet)
                packet.time = coding.time(packet.packet.pointee)
                packet.isVideo = coding === video
                if first == nil { first = packet.time }
                return packet
            }
        }
    }

    /// Goes to a place from which everything from `time` on can be decoded. In MPEG-TS and others, libavformat leads
    /// between keyframes, and the way has to begin earlier.
    public func seek(to time: Duration) throws(StreamFailure) {
        try go(to: time)
        guard let video else { return }
        for margin in Self.seekMargins {
            let target = time - .seconds(margin)
            if margin > 0 {
                do throws(StreamFailure) { try go(to: target) } catch { break }
            }
            // Nothing comes before the first keyframe.
            if let keyframe = readAhead(to: time, video), keyframe <= time || target < .zero { return }
            if target < .zero { break }
        }
        try go(to: time)
    }

    private func go(to time: Duration) throws(StreamFailure) {
        ahead.removeAll(keepingCapacity: true)
        // HLS goes nowhere before its first packet, which may be later than the beginning of its audio.
        if move(to: time) { return }
        guard let first, time < first, move(to: first) else { throw .failed("it cannot be played from another place") }
    }

    private func move(to time: Duration) -> Bool {
        let microseconds = Int64((time.seconds * 1_000_000).rounded())
        let (target, overflow) = microseconds.addingReportingOverflow(start)
        return !overflow && av_seek_frame(context, -1, target, AVSEEK_FLAG_BACKWARD) >= 0
    }

    /// Reads up to the next keyframe, and keeps what is of use for `time` on. Returns the keyframe's time; nil if there
    /// is none up to then.
    private func readAhead(to time: Duration, _ video: MediaCoding) -> Duration? {
        // Audio and video of the same time do not lie at the same place.
        let margin = Duration.seconds(1)
        for _ in 0..<Self.mostAhead {
            guard let packet = try? read(), (packet.time ?? time) <= time + margin else { return nil }
            let isUseful = packet.isVideo ? packet.isKeyframe : (packet.time ?? time) >= time - margin
            if isUseful { ahead.append(packet) }
            if packet.isVideo, packet.isKeyframe { return video.time(packet.packet.pointee.pts) ?? packet.time }
        }
        return nil
    }
}
