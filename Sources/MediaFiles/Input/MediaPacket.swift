import CLibAVFormat
public import MediaCore

/// The coding of one stream of a film, for its decoder.
///
/// Unchecked because of the pointer: the object alone owns it, and nobody changes it.
public final class MediaCoding: @unchecked Sendable {
    let parameters: UnsafeMutablePointer<AVCodecParameters>
    let index: Int32
    let timeBase: AVRational
    /// The turn that makes pictures upright.
    public let rotation: VideoRotation
    /// The beginning of the film, in microseconds as libavformat counts.
    private let start: Int64

    /// Nil if libavcodec has no decoder for it.
    init?(_ stream: UnsafeMutablePointer<AVStream>, start: Int64) {
        guard let own = stream.pointee.codecpar, avcodec_find_decoder(own.pointee.codec_id) != nil else { return nil }
        var copy = avcodec_parameters_alloc()
        guard let parameters = copy, avcodec_parameters_copy(parameters, own) >= 0 else {
            avcodec_parameters_free(&copy)
            return nil
        }
        self.parameters = parameters
        self.start = start
        index = stream.pointee.index
        timeBase = stream.pointee.time_base
        rotation = Self.rotation(of: stream)
    }

    deinit {
        var parameters: UnsafeMutablePointer<AVCodecParameters>? = parameters
        avcodec_parameters_free(&parameters)
    }

    /// Returns the turn that makes the pictures of a stream upright. libavutil has the angle by which they were turned,
    /// counterclockwise.
    static func rotation(of stream: UnsafeMutablePointer<AVStream>) -> VideoRotation {
        var size = 0
        guard let matrix = av_stream_get_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, &size), size >= 36 else {
            return .none
        }
        let angle = av_display_rotation_get(UnsafeRawPointer(matrix).assumingMemoryBound(to: Int32.self))
        guard angle.isFinite else { return .none }
        return switch Int((-angle / 90).rounded()) & 3 {
        case 1: .clockwise90
        case 2: .rotate180
        case 3: .clockwise270
        default: VideoRotation.none
        }
    }

    /// The name of the codec, as libavcodec has it.
    public var codec: String { avcodec_get_name(parameters.pointee.codec_id).map { String(cString: $0) } ?? "unknown" }

    /// The time of a packet from the beginning of the film; nil if it has none.
    func time(_ packet: AVPacket) -> Duration? {
        time(packet.dts != LibAVFormat.noTimestamp ? packet.dts : packet.pts)
    }

    /// A stamp in the stream's time base, as a time from the beginning of the film.
    func time(_ stamp: Int64) -> Duration? {
        guard stamp != LibAVFormat.noTimestamp, timeBase.num > 0, timeBase.den > 0 else { return nil }
        let microseconds = av_rescale_q(stamp, timeBase, AVRational(num: 1, den: 1_000_000))
        let (time, overflow) = microseconds.subtractingReportingOverflow(start)
        return overflow || time.magnitude > Self.longest ? nil : .microseconds(time)
    }

    /// A length in the stream's time base; zero if it is not told.
    func duration(_ count: Int64) -> Duration {
        guard count > 0, timeBase.num > 0, timeBase.den > 0 else { return .zero }
        let microseconds = av_rescale_q(count, timeBase, AVRational(num: 1, den: 1_000_000))
        return microseconds.magnitude > Self.longest ? .zero : .microseconds(microseconds)
    }

    /// A hundred years, in microseconds: sums of such times do not overflow.
    private static let longest: UInt64 = 3_155_760_000_000_000
}

/// A packet of a film: what a decoder takes at once.
///
/// Unchecked because of the pointer: the object alone owns it, and one thread at a time holds the object, the reader
/// that fills it and then the decoder.
public final class MediaPacket: @unchecked Sendable {
    let packet: UnsafeMutablePointer<AVPacket>
    /// The time at which it is to be decoded, from the beginning of the film; nil if the film does not say.
    public internal(set) var time: Duration?
    public internal(set) var isVideo = false

    init?() {
        guard let packet = av_packet_alloc() else { return nil }
        self.packet = packet
    }

    deinit {
        var packet: UnsafeMutablePointer<AVPacket>? = packet
        av_packet_free(&packet)
    }

    public var size: Int { Int(packet.pointee.size) }
    /// True if decoding can start with it.
    public var isKeyframe: Bool { packet.pointee.flags & AV_PKT_FLAG_KEY != 0 }
}
