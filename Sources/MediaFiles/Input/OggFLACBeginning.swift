import CLibAVFormat
import MediaCore

/// The first page of FLAC in Ogg whose times begin later than at zero: libavformat counts that page from zero.
struct OggFLACBeginning {
    private let index: Int32
    /// Where libavformat has the page's end, and how much too early, in the stream's time base.
    private let end: Int64
    private let shift: Int64
    /// When the film begins, in microseconds.
    let start: Int64

    /// Reads the first page of a film, and goes back. Nil if the page's times are right.
    init?(of context: UnsafeMutablePointer<AVFormatContext>) {
        let index = av_find_best_stream(context, AVMEDIA_TYPE_AUDIO, -1, -1, nil, 0)
        guard context.pointee.iformat.flatMap(\.pointee.name).map({ String(cString: $0) }) == "ogg",
            index >= 0, index < Int32(clamping: context.pointee.nb_streams),
            let stream = context.pointee.streams[Int(index)],
            stream.pointee.codecpar?.pointee.codec_id == AV_CODEC_ID_FLAC, stream.pointee.time_base.den > 0,
            context.pointee.pb?.pointee.seekable != 0
        else { return nil }
        let found = Self.end(in: context, index)
        guard av_seek_frame(context, -1, 0, AVSEEK_FLAG_BACKWARD) >= 0, let found else { return nil }
        let (shift, overflow) = found.next.subtractingReportingOverflow(found.end)
        guard !overflow, shift > 0 else { return nil }
        (self.index, end, self.shift) = (index, found.end, shift)
        start = av_rescale_q(shift, stream.pointee.time_base, AVRational(num: 1, den: 1_000_000))
    }

    /// The most packets of a page.
    private static let mostPackets = 255

    /// Returns where the first page's last packet ends, and where the packet after it begins.
    private static func end(
        in context: UnsafeMutablePointer<AVFormatContext>, _ index: Int32
    ) -> (end: Int64, next: Int64)? {
        var allocated = av_packet_alloc()
        defer { av_packet_free(&allocated) }
        guard let packet = allocated else { return nil }
        var page: (place: Int64, end: Int64)?
        for _ in 0...mostPackets {
            av_packet_unref(packet)
            guard av_read_frame(context, packet) >= 0, packet.pointee.stream_index == index,
                packet.pointee.pts != LibAVFormat.noTimestamp
            else { return nil }
            if let page, packet.pointee.pos != page.place { return (page.end, packet.pointee.pts) }
            let (end, overflow) = packet.pointee.pts.addingReportingOverflow(packet.pointee.duration)
            guard packet.pointee.duration > 0, !overflow else { return nil }
            page = (packet.pointee.pos, end)
        }
        return nil
    }

    /// Gives a packet of the page its time.
    func correct(_ packet: UnsafeMutablePointer<AVPacket>) {
        guard packet.pointee.stream_index == index, packet.pointee.pts < end,
            packet.pointee.pts != LibAVFormat.noTimestamp
        else { return }
        packet.pointee.pts += shift
        packet.pointee.dts = packet.pointee.pts
    }
}
