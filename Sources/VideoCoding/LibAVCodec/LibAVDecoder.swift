import CLibAVCodec
import H264
import MediaCore
import NIOCore

/// libavcodec's H.264 decoder: one thread, and no delay where the stream does not reorder.
struct LibAVDecoder: ~Copyable {
    private let context: UnsafeMutablePointer<AVCodecContext>
    private let packet: UnsafeMutablePointer<AVPacket>

    /// libavcodec tells its troubles on stderr unless it is silenced; what a sender does wrong is in the outcomes.
    private static let silenceLog: Void = av_log_set_level(AV_LOG_QUIET)

    init(reorders: Bool, limits: DecodingLimits) throws(VideoCodingError) {
        Self.silenceLog
        guard let codec = avcodec_find_decoder(AV_CODEC_ID_H264) else {
            throw .codecUnavailable(reason: "this libavcodec has no H.264 decoder; install a complete one")
        }
        var newContext = avcodec_alloc_context3(codec)
        var newPacket = av_packet_alloc()
        guard let context = newContext, let packet = newPacket else {
            avcodec_free_context(&newContext)
            av_packet_free(&newPacket)
            throw .codecUnavailable(reason: "no memory for a decoder")
        }
        context.pointee.thread_count = 1
        // Crop to the sample, not to where rows happen to be aligned.
        context.pointee.flags |= AV_CODEC_FLAG_UNALIGNED
        if !reorders { context.pointee.flags |= AV_CODEC_FLAG_LOW_DELAY }
        context.pointee.max_pixels = Int64(clamping: limits.maximumArea)
        let status = avcodec_open2(context, codec, nil)
        guard status == 0 else {
            avcodec_free_context(&newContext)
            av_packet_free(&newPacket)
            throw .codecUnavailable(reason: "libavcodec did not open its H.264 decoder (\(status))")
        }
        self.context = context
        self.packet = packet
    }

    deinit {
        var lastContext: UnsafeMutablePointer<AVCodecContext>? = context
        avcodec_free_context(&lastContext)
        var lastPacket: UnsafeMutablePointer<AVPacket>? = packet
        av_packet_free(&lastPacket)
    }

    /// How many frames the decoder holds back at present to put them in order.
    var reorderDepth: Int { max(0, Int(context.pointee.has_b_frames)) }

    /// Decodes a frame: `parameterSets` (Annex B), then the NAL units of `data` that are neither parameter sets nor
    /// delimiters. Pictures are there to `receive` afterwards, also when this throws.
    ///
    /// - Returns: Whether there was anything to decode.
    func send(
        _ data: ByteBuffer, parameterSets: [UInt8], serial: Int64
    ) throws(VideoCodingError) -> Bool {
        let size = try data.withUnsafeReadableBytes { bytes throws(VideoCodingError) in
            try SampleLayout.annexBSize(of: bytes)
        }
        guard size > 0 else { return false }
        // The buffer gets the zeroed padding that libavcodec's bit readers run into.
        guard let total = Int32(exactly: parameterSets.count + size), av_new_packet(packet, total) == 0,
            let base = packet.pointee.data
        else { throw .codecUnavailable(reason: "no memory for a frame of \(size) bytes") }
        defer { av_packet_unref(packet) }
        let target = UnsafeMutableRawBufferPointer(start: base, count: Int(total))
        target.copyBytes(from: parameterSets)
        data.withUnsafeReadableBytes { bytes in
            SampleLayout.writeAnnexB(
                of: bytes, into: UnsafeMutableRawBufferPointer(rebasing: target[parameterSets.count...]))
        }
        packet.pointee.pts = serial
        packet.pointee.dts = serial
        let status = avcodec_send_packet(context, packet)
        guard status == 0 else { throw .decodingFailed(code: status) }
        return true
    }

    /// The next finished frame.
    func receive() -> LibAVFrame? { LibAVFrame(receivingFrom: context) }

    /// Lets the decoder give out what it holds back: `receive` until nil, then `restart`.
    func drain() {
        _ = avcodec_send_packet(context, nil)
    }

    /// Forgets all frames; decoding begins anew at a key frame.
    func restart() {
        avcodec_flush_buffers(context)
    }
}
