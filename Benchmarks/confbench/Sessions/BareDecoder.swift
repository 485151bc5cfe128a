import CLibAVCodec
import H264
import MediaCore
import NIOCore

/// libavcodec as one would call it by hand, with a session's settings and packets made beforehand.
final class BareDecoder {
    private let context: UnsafeMutablePointer<AVCodecContext>
    private let frame: UnsafeMutablePointer<AVFrame>
    private var packets: [UnsafeMutablePointer<AVPacket>] = []
    private(set) var pictures = 0

    init(samples: [SampleBuffer]) throws {
        guard let codec = avcodec_find_decoder(AV_CODEC_ID_H264), let context = avcodec_alloc_context3(codec),
            let frame = av_frame_alloc()
        else { throw BenchmarkError.codecFailed(reason: "libavcodec made no decoder") }
        self.context = context
        self.frame = frame
        context.pointee.thread_count = 1
        context.pointee.flags |= AV_CODEC_FLAG_UNALIGNED | AV_CODEC_FLAG_LOW_DELAY
        guard avcodec_open2(context, codec, nil) == 0 else {
            throw BenchmarkError.codecFailed(reason: "libavcodec did not open its decoder")
        }
        for sample in samples { packets.append(try Self.packet(AnnexB.encode(try sample.nalUnits()))) }
        // Parameter sets are sent once.
        guard let first = samples.first else { return }
        let units = first.format.parameterSets.compactMap { NALUnit($0) }
        try decode(try Self.packet(AnnexB.encode(units + (try first.nalUnits()))))
        avcodec_flush_buffers(context)
        pictures = 0
    }

    deinit {
        for packet in packets {
            var last: UnsafeMutablePointer<AVPacket>? = packet
            av_packet_free(&last)
        }
        var lastFrame: UnsafeMutablePointer<AVFrame>? = frame
        av_frame_free(&lastFrame)
        var lastContext: UnsafeMutablePointer<AVCodecContext>? = context
        avcodec_free_context(&lastContext)
    }

    private static func packet(_ bytes: ByteBuffer) throws -> UnsafeMutablePointer<AVPacket> {
        guard let packet = av_packet_alloc(), av_new_packet(packet, Int32(bytes.readableBytes)) == 0 else {
            throw BenchmarkError.codecFailed(reason: "no memory for a packet")
        }
        bytes.withUnsafeReadableBytes { source in
            UnsafeMutableRawBufferPointer(start: packet.pointee.data, count: source.count).copyMemory(from: source)
        }
        return packet
    }

    /// Decodes the sample at `index` of the clip, which is played over and over.
    func decode(_ index: Int) throws {
        try decode(packets[index % packets.count])
    }

    private func decode(_ packet: UnsafeMutablePointer<AVPacket>) throws {
        let status = avcodec_send_packet(context, packet)
        guard status == 0 else { throw BenchmarkError.codecFailed(reason: "libavcodec refuses a frame (\(status))") }
        while avcodec_receive_frame(context, frame) == 0 {
            pictures += 1
            av_frame_unref(frame)
        }
    }
}
