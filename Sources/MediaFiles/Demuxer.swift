import CLibAVFormat
import H264
import MediaCore
import NIOCore

/// libavformat's demultiplexer, opened on one file's H.264 or Opus stream.
final class Demuxer {
    /// A frame as the container holds it.
    struct Packet {
        var data: ByteBuffer
        var presentationTime: MediaTime?
        var decodeTime: MediaTime?
        var duration: MediaTime?
        /// False if an edit list has cut it away.
        var isShown = true
        /// Parameter sets that the container has beside the samples from this one on; empty where they stay.
        var parameterSets: [NALUnit] = []
    }

    /// The framing of NAL units inside a packet.
    private enum Framing {
        case annexB
        case lengthPrefixed(lengthSize: Int)
    }

    /// A container's description for the decoder of its samples: the parameter sets and the framing of NAL units.
    private struct Configuration {
        let extradata: ByteBuffer
        let framing: Framing

        init(_ extradata: ByteBuffer) {
            self.extradata = extradata
            // An avcC starts with its version, 1; Annex B with a start code's zero (ISO/IEC 14496-15, 5.3.3.1).
            if extradata.readableBytes > 4, extradata.getInteger(at: extradata.readerIndex, as: UInt8.self) == 1,
                let sizes = extradata.getInteger(at: extradata.readerIndex + 4, as: UInt8.self)
            {
                framing = .lengthPrefixed(lengthSize: Int(sizes & 3) + 1)
            } else {
                framing = .annexB
            }
        }

        func parameterSets() throws(H264ParseError) -> [NALUnit] {
            guard extradata.readableBytes > 0 else { return [] }
            switch framing {
            case .annexB:
                return AnnexB.nalUnits(in: extradata)
            case .lengthPrefixed:
                let record = try AVCDecoderConfigurationRecord(parsing: extradata)
                return record.parameterSets.compactMap { NALUnit($0) }
            }
        }
    }

    /// The kind of stream that is read.
    enum Kind {
        case video, opus
    }

    let nominalFrameRate: Double?
    let duration: Duration?
    /// The turn that makes pictures upright.
    let rotation: VideoRotation
    /// True if the file is a raw H.264 stream, which has no times.
    let isElementaryStream: Bool
    private let path: String
    private let context: UnsafeMutablePointer<AVFormatContext>
    private let packet: UnsafeMutablePointer<AVPacket>
    private let streamIndex: Int32
    private let timeBase: AVRational
    private let kind: Kind
    /// At the file's beginning, and at the last packet.
    private let initialConfiguration: Configuration
    private var configuration: Configuration
    /// The last configuration that began within the file, and the decoding time of its first packet.
    private var change: (time: Int64, configuration: Configuration)?
    private var isBehindJump = false

    init(path: String, kind: Kind = .video) throws(MediaFileError) {
        _ = LibAVFormat.prepare
        self.path = path
        var opened: UnsafeMutablePointer<AVFormatContext>?
        var status = avformat_open_input(&opened, LibAVFormat.url(path: path), nil, nil)
        if status < 0, let url = WholeFragments.url(path: path), avformat_open_input(&opened, url, nil, nil) >= 0 {
            status = 0
        }
        guard status >= 0, let context = opened else {
            throw .cannotOpen(path: path, reason: LibAVFormat.message(status))
        }
        var failure: MediaFileError?
        var stream: UnsafeMutablePointer<AVStream>?
        status = avformat_find_stream_info(context, nil)
        if status < 0 {
            failure = .cannotOpen(path: path, reason: LibAVFormat.message(status))
        } else {
            let type = kind == .video ? AVMEDIA_TYPE_VIDEO : AVMEDIA_TYPE_AUDIO
            let index = av_find_best_stream(context, type, -1, -1, nil, 0)
            if index >= 0, index < Int32(context.pointee.nb_streams) {
                stream = context.pointee.streams[Int(index)]
            } else {
                failure = kind == .video ? .noVideo(path: path) : .noAudio(path: path)
            }
        }
        let codec = kind == .video ? AV_CODEC_ID_H264 : AV_CODEC_ID_OPUS
        if let stream, let parameters = stream.pointee.codecpar, parameters.pointee.codec_id != codec {
            let name = avcodec_get_name(parameters.pointee.codec_id).map { String(cString: $0) } ?? "unknown"
            failure =
                kind == .video
                ? .unsupportedCodec(path: path, codec: name) : .unsupportedAudioCodec(path: path, codec: name)
        }
        guard failure == nil, let stream, let parameters = stream.pointee.codecpar,
            let packet = av_packet_alloc()
        else {
            avformat_close_input(&opened)
            throw failure ?? .cannotOpen(path: path, reason: "out of memory")
        }
        self.context = context
        self.packet = packet
        streamIndex = stream.pointee.index
        timeBase = stream.pointee.time_base
        nominalFrameRate = Self.frameRate(of: stream, in: context)
        rotation = MediaCoding.rotation(of: stream)
        isElementaryStream =
            context.pointee.iformat.flatMap(\.pointee.name).map { String(cString: $0) == "h264" } ?? false
        duration = LibAVFormat.length(of: context)
        var extradata = ByteBuffer()
        if let bytes = parameters.pointee.extradata, parameters.pointee.extradata_size > 0 {
            extradata.writeBytes(
                UnsafeRawBufferPointer(start: bytes, count: Int(parameters.pointee.extradata_size)))
        }
        self.kind = kind
        initialConfiguration = Configuration(extradata)
        configuration = initialConfiguration
    }

    deinit {
        var context: UnsafeMutablePointer<AVFormatContext>? = context
        var packet: UnsafeMutablePointer<AVPacket>? = packet
        av_packet_free(&packet)
        avformat_close_input(&context)
    }

    private static func frameRate(
        of stream: UnsafeMutablePointer<AVStream>, in context: UnsafeMutablePointer<AVFormatContext>
    ) -> Double? {
        let rate = av_guess_frame_rate(context, stream, nil)
        guard rate.num > 0, rate.den > 0 else { return nil }
        return Double(rate.num) / Double(rate.den)
    }

    /// The parameter sets that the container has beside the samples at its beginning.
    func initialParameterSets() throws(H264ParseError) -> [NALUnit] { try initialConfiguration.parameterSets() }

    /// The NAL units of a packet's data.
    func nalUnits(in data: ByteBuffer) throws(H264ParseError) -> [NALUnit] {
        switch configuration.framing {
        case .annexB: AnnexB.nalUnits(in: data)
        case .lengthPrefixed(let lengthSize): try LengthPrefixed.nalUnits(in: data, lengthSize: lengthSize)
        }
    }

    /// The next packet of the H.264 stream; nil at the end.
    func nextPacket() throws(MediaFileError) -> Packet? {
        while true {
            let status = av_read_frame(context, packet)
            if status == LibAVFormat.endOfFile { return nil }
            guard status >= 0 else { throw .malformed(path: path, reason: LibAVFormat.message(status)) }
            defer { av_packet_unref(packet) }
            guard packet.pointee.stream_index == streamIndex, let bytes = packet.pointee.data,
                packet.pointee.size > 0
            else { continue }
            let parameterSets = try takeConfiguration()
            let data = ByteBuffer(bytes: UnsafeRawBufferPointer(start: bytes, count: Int(packet.pointee.size)))
            let (pts, dts) = (packet.pointee.pts, packet.pointee.dts)
            let stamp = pts != LibAVFormat.noTimestamp ? pts : dts
            return Packet(
                data: data, presentationTime: stamp == LibAVFormat.noTimestamp ? nil : time(stamp),
                decodeTime: dts == LibAVFormat.noTimestamp ? nil : time(dts),
                duration: packet.pointee.duration > 0 ? time(packet.pointee.duration) : nil,
                isShown: packet.pointee.flags & AV_PKT_FLAG_DISCARD == 0,
                parameterSets: parameterSets)
        }
    }

    /// Takes on the configuration of the packet that was read. Returns its parameter sets where it begins there, or
    /// where it began within the file before a jump: libavformat does not tell of it a second time.
    private func takeConfiguration() throws(MediaFileError) -> [NALUnit] {
        guard kind == .video else { return [] }
        defer { isBehindJump = false }
        var size = 0
        if let bytes = av_packet_get_side_data(packet, AV_PKT_DATA_NEW_EXTRADATA, &size), size > 0 {
            configuration = Configuration(ByteBuffer(bytes: UnsafeRawBufferPointer(start: bytes, count: size)))
            change = (packet.pointee.dts, configuration)
        } else {
            guard isBehindJump, let change else { return [] }
            let isBefore = packet.pointee.dts < change.time
            configuration = isBefore ? initialConfiguration : change.configuration
            if isBefore { return [] }
        }
        do throws(H264ParseError) {
            return try configuration.parameterSets()
        } catch {
            throw .malformed(path: path, reason: "\(error)")
        }
    }

    /// Goes back to the first packet.
    func rewind() throws(MediaFileError) {
        isBehindJump = true
        // Earlier than any packet, but not so early that the offsets which libavformat takes off make it wrap around.
        // A raw stream cannot be sought by time, but by its first byte.
        var status = av_seek_frame(context, streamIndex, -(1 << 48), AVSEEK_FLAG_BACKWARD)
        if status < 0 { status = av_seek_frame(context, -1, 0, AVSEEK_FLAG_BYTE) }
        guard status >= 0 else { throw .cannotOpen(path: path, reason: LibAVFormat.message(status)) }
    }

    /// Goes to the last packet that decoding can start at and that is decoded at `time` or before.
    ///
    /// - Returns: False where libavformat cannot.
    func seek(to time: MediaTime) -> Bool {
        let stamp = time.multiplied(by: Int64(timeBase.den), over: Int64(timeBase.num)).converted(toTimescale: 1)
        guard stamp.isNumeric else { return false }
        isBehindJump = true
        return av_seek_frame(context, streamIndex, stamp.value, AVSEEK_FLAG_BACKWARD) >= 0
    }

    private func time(_ value: Int64) -> MediaTime {
        let (scaled, overflow) = value.multipliedReportingOverflow(by: Int64(timeBase.num))
        return MediaTime(value: overflow ? .max : scaled, timescale: max(timeBase.den, 1))
    }
}
