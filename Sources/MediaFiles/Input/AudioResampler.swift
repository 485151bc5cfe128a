import CLibAVFormat

/// Makes one channel at 48 kHz of any audio that libavcodec decodes, with libswresample.
final class AudioResampler {
    private let context: OpaquePointer
    private let format: Int32
    private let rate: Int32
    private let channels: Int32

    /// The most samples of one conversion, ten seconds: no codec has longer frames.
    private static let mostSamples: Int32 = 480_000

    /// Nil if there is no way from the frame's form.
    init?(for frame: UnsafeMutablePointer<AVFrame>) {
        format = frame.pointee.format
        rate = frame.pointee.sample_rate
        channels = frame.pointee.ch_layout.nb_channels
        guard rate > 0, channels > 0 else { return nil }
        var mono = AVChannelLayout()
        av_channel_layout_default(&mono, 1)
        var input = AVChannelLayout()
        if frame.pointee.ch_layout.order == AV_CHANNEL_ORDER_UNSPEC {
            // A layout that is not told is the usual one of that many channels.
            av_channel_layout_default(&input, channels)
        } else if av_channel_layout_copy(&input, &frame.pointee.ch_layout) < 0 {
            return nil
        }
        defer { av_channel_layout_uninit(&input) }
        var allocated: OpaquePointer?
        let status = swr_alloc_set_opts2(
            &allocated, &mono, AV_SAMPLE_FMT_FLT, MediaDecoder.sampleRate, &input, AVSampleFormat(format), rate, 0,
            nil)
        guard status >= 0, let context = allocated, swr_init(context) >= 0 else {
            swr_free(&allocated)
            return nil
        }
        self.context = context
    }

    deinit {
        var context: OpaquePointer? = context
        swr_free(&context)
    }

    /// Returns true if the frame has the form for which this was made.
    func fits(_ frame: UnsafeMutablePointer<AVFrame>) -> Bool {
        frame.pointee.format == format && frame.pointee.sample_rate == rate
            && frame.pointee.ch_layout.nb_channels == channels
    }

    /// The samples of a frame, less a few that wait for the next.
    func convert(_ frame: UnsafeMutablePointer<AVFrame>) -> [Float] {
        let room = swr_get_out_samples(context, frame.pointee.nb_samples)
        guard room > 0, room <= Self.mostSamples, let data = frame.pointee.extended_data else { return [] }
        return [Float](unsafeUninitializedCapacity: Int(room)) { buffer, count in
            var base: UnsafeMutablePointer<UInt8>? = UnsafeMutableRawPointer(buffer.baseAddress)?
                .assumingMemoryBound(to: UInt8.self)
            let converted = data.withMemoryRebound(to: UnsafePointer<UInt8>?.self, capacity: Int(max(channels, 1))) {
                swr_convert(context, &base, room, $0, frame.pointee.nb_samples)
            }
            count = max(0, Int(converted))
        }
    }
}
