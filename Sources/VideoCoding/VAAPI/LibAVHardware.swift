#if VAAPI
    import CLibAVCodec

    /// A GPU on which libavcodec decodes, through a display of its own.
    final class LibAVHardware {
        private let display: VAAPIDisplay
        private var reference: UnsafeMutablePointer<AVBufferRef>?

        /// Surfaces beside those that the stream needs as references: the picture that is read, and the next one.
        private static let extraSurfaces: Int32 = 2

        init(_ device: VAAPIDevice) throws(VideoCodingError) {
            display = try VAAPIDisplay(device)
            reference = libav_shim_vaapi_device(display.handle)
            guard reference != nil else {
                throw .hardwareUnavailable(reason: "libavcodec does not decode on \(device)")
            }
        }

        deinit {
            // Before the display ends.
            av_buffer_unref(&reference)
        }

        /// Has a decoder use the device. Before it is opened.
        func attach(to context: UnsafeMutablePointer<AVCodecContext>) {
            context.pointee.hw_device_ctx = av_buffer_ref(reference)
            context.pointee.get_format = libav_shim_take_vaapi
            context.pointee.extra_hw_frames = Self.extraSurfaces
            // Streams that call themselves Baseline use what Constrained Baseline has, nearly always.
            context.pointee.hwaccel_flags |= AV_HWACCEL_FLAG_ALLOW_PROFILE_MISMATCH
        }
    }
#endif
