import CLibAVFormat
public import MediaCore

/// Decodes one stream of a film with any decoder that libavcodec has: video to 8-bit 4:2:0 with square samples, audio
/// to one channel at 48 kHz. It runs on one thread, and belongs to one caller at a time.
public final class MediaDecoder {
    /// Something that was decoded, with its time from the beginning of the film.
    public enum Output: Sendable {
        case picture(PixelBuffer, at: Duration?)
        /// Samples from -1 to 1.
        case audio([Float], at: Duration?)
    }

    /// The samples of audio in a second.
    public static let sampleRate: Int32 = 48_000
    /// The largest picture that is decoded, and the largest that is handed out.
    private static let mostPixels: Int64 = 4096 * 2304
    private static let largest = VideoDimensions(width: 1920, height: 1080)

    private let coding: MediaCoding
    private let context: UnsafeMutablePointer<AVCodecContext>
    private let frame: UnsafeMutablePointer<AVFrame>
    private let isVideo: Bool
    private var scaler = PictureScaler()
    private var resampler: AudioResampler?
    /// The time for which the newest picture is to be seen; zero if the film does not tell.
    public private(set) var pictureDuration = Duration.zero

    public init(_ coding: MediaCoding) throws(StreamFailure) {
        self.coding = coding
        isVideo = coding.parameters.pointee.codec_type == AVMEDIA_TYPE_VIDEO
        let codec = avcodec_find_decoder(coding.parameters.pointee.codec_id)
        var allocated = avcodec_alloc_context3(codec)
        var frame = av_frame_alloc()
        guard let codec, let context = allocated, let made = frame else {
            avcodec_free_context(&allocated)
            av_frame_free(&frame)
            throw .failed("no memory for a decoder")
        }
        var status = avcodec_parameters_to_context(context, coding.parameters)
        context.pointee.pkt_timebase = coding.timeBase
        // A film may take one core, whatever it is.
        context.pointee.thread_count = 1
        context.pointee.max_pixels = Self.mostPixels
        // Crop to the sample, not to where rows happen to be aligned.
        context.pointee.flags |= AV_CODEC_FLAG_UNALIGNED
        if status >= 0 { status = avcodec_open2(context, codec, nil) }
        guard status >= 0 else {
            avcodec_free_context(&allocated)
            av_frame_free(&frame)
            throw .failed("its \(coding.codec) cannot be decoded: \(LibAVFormat.message(status))")
        }
        self.context = context
        self.frame = made
    }

    deinit {
        var context: UnsafeMutablePointer<AVCodecContext>? = context
        avcodec_free_context(&context)
        var frame: UnsafeMutablePointer<AVFrame>? = frame
        av_frame_free(&frame)
    }

    /// Decodes a packet, or with nil what the decoder holds back at the end. Damaged packets decode to nothing.
    public func decode(_ packet: MediaPacket?, _ body: (Output) -> Void) {
        guard avcodec_send_packet(context, packet?.packet) >= 0 else { return }
        while avcodec_receive_frame(context, frame) >= 0 {
            defer { av_frame_unref(frame) }
            let stamp = frame.pointee.best_effort_timestamp
            let time = coding.time(stamp != LibAVFormat.noTimestamp ? stamp : frame.pointee.pts)
            if isVideo {
                guard let picture = scaler.picture(of: frame, within: Self.largest) else { continue }
                pictureDuration = coding.duration(libav_shim_duration(frame))
                body(.picture(picture, at: time))
            } else {
                if resampler?.fits(frame) != true { resampler = AudioResampler(for: frame) }
                guard let samples = resampler?.convert(frame), !samples.isEmpty else { continue }
                body(.audio(samples, at: time))
            }
        }
    }

    /// Forgets everything, to go on elsewhere.
    public func flush() {
        avcodec_flush_buffers(context)
        resampler = nil
    }
}
