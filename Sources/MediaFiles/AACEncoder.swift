import CLibAVFormat
public import MediaCore
public import NIOCore

/// Encodes one channel of sound at 48 kHz as AAC-LC with libavcodec's encoder, for players without Opus.
///
/// It is not thread-safe and serves one caller at a time.
public final class AACEncoder {
    /// An AAC frame of 1024 samples.
    public struct Packet: Sendable {
        public var data: ByteBuffer
        /// When its first sample is heard.
        public var time: MediaTime
    }

    public static let sampleRate: Int32 = 48_000
    /// Samples of a frame.
    public static let frameSize = 1024

    private let context: UnsafeMutablePointer<AVCodecContext>
    private let frame: UnsafeMutablePointer<AVFrame>
    private let packet: UnsafeMutablePointer<AVPacket>
    /// Samples that do not fill a frame yet, and the time of the first.
    private var waiting: [Float] = []
    private var waitingTime: Int64 = 0

    /// - Throws: `MediaFileError.misuse` if libavcodec has no AAC encoder, or does not take the bitrate.
    public init(bitRate: BitRate = .kilobits(96)) throws(MediaFileError) {
        _ = LibAVFormat.prepare
        guard let codec = avcodec_find_encoder(AV_CODEC_ID_AAC), let context = avcodec_alloc_context3(codec),
            let frame = av_frame_alloc(), let packet = av_packet_alloc()
        else { throw .misuse(path: "AAC", reason: "libavcodec has no AAC encoder") }
        self.context = context
        self.frame = frame
        self.packet = packet
        context.pointee.sample_fmt = AV_SAMPLE_FMT_FLTP
        context.pointee.sample_rate = Self.sampleRate
        context.pointee.bit_rate = bitRate.bitsPerSecond
        context.pointee.time_base = AVRational(num: 1, den: Self.sampleRate)
        // MP4 and FLV have the decoder's configuration outside the frames.
        context.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER
        av_channel_layout_default(&context.pointee.ch_layout, 1)
        let status = avcodec_open2(context, codec, nil)
        guard status >= 0 else { throw .misuse(path: "AAC", reason: LibAVFormat.message(status)) }
    }

    deinit {
        var (context, frame, packet):
            (
                UnsafeMutablePointer<AVCodecContext>?, UnsafeMutablePointer<AVFrame>?, UnsafeMutablePointer<AVPacket>?
            ) = (context, frame, packet)
        avcodec_free_context(&context)
        av_frame_free(&frame)
        av_packet_free(&packet)
    }

    /// The decoder's configuration (`AudioSpecificConfig`, ISO/IEC 14496-3).
    public var configuration: ByteBuffer {
        guard let bytes = context.pointee.extradata else { return ByteBuffer() }
        return ByteBuffer(
            bytes: UnsafeRawBufferPointer(start: bytes, count: Int(max(0, context.pointee.extradata_size))))
    }

    /// Takes samples, and hands out the frames that are complete with them.
    ///
    /// - Parameters:
    ///   - samples: From -1 to 1.
    ///   - time: When the first is heard. Where that is not when the last ones ended, silence completes their frame.
    /// - Throws: `MediaFileError.cannotWrite` if the encoder fails.
    public func encode(_ samples: [Float], at time: MediaTime) throws(MediaFileError) -> [Packet] {
        let start = time.converted(toTimescale: Self.sampleRate).value
        var packets: [Packet] = []
        let end = waitingTime + Int64(waiting.count)
        if abs(start - end) > Int64(Self.frameSize) {
            if !waiting.isEmpty {
                waiting += repeatElement(0, count: Self.frameSize - waiting.count)
                try encodeFrames(into: &packets)
            }
            waitingTime = start
        }
        waiting += samples
        try encodeFrames(into: &packets)
        return packets
    }

    private func encodeFrames(into packets: inout [Packet]) throws(MediaFileError) {
        var used = 0
        while waiting.count - used >= Self.frameSize {
            try send(waiting[used..<(used + Self.frameSize)], at: waitingTime)
            used += Self.frameSize
            waitingTime += Int64(Self.frameSize)
            while avcodec_receive_packet(context, packet) >= 0 {
                if let bytes = packet.pointee.data {
                    packets.append(
                        Packet(
                            data: ByteBuffer(
                                bytes: UnsafeRawBufferPointer(start: bytes, count: Int(max(0, packet.pointee.size)))),
                            time: MediaTime(value: packet.pointee.pts, timescale: Self.sampleRate)))
                }
                av_packet_unref(packet)
            }
        }
        waiting.removeFirst(used)
    }

    private func send(_ samples: ArraySlice<Float>, at time: Int64) throws(MediaFileError) {
        av_frame_unref(frame)
        frame.pointee.nb_samples = Int32(Self.frameSize)
        frame.pointee.format = AV_SAMPLE_FMT_FLTP.rawValue
        frame.pointee.sample_rate = Self.sampleRate
        frame.pointee.pts = time
        av_channel_layout_default(&frame.pointee.ch_layout, 1)
        var status = av_frame_get_buffer(frame, 0)
        if status >= 0, let plane = frame.pointee.data.0 {
            samples.withUnsafeBytes { bytes in
                if let base = bytes.baseAddress {
                    UnsafeMutableRawPointer(plane).copyMemory(from: base, byteCount: bytes.count)
                }
            }
            status = avcodec_send_frame(context, frame)
        }
        guard status >= 0 else { throw .cannotWrite(path: "AAC", reason: LibAVFormat.message(status)) }
    }
}
