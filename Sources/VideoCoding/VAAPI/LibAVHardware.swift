#if VAAPI
    import CLibAVCodec
    import CLibVA

    /// A GPU on which libavcodec decodes, through a display of its own.
    final class LibAVHardware {
        private let display: VAAPIDisplay
        private var reference: UnsafeMutablePointer<AVBufferRef>?
        /// Reads pictures that stay on the device; nil: none does, nor any more.
        private var reader: VAAPISurfaceReader?
        /// The surfaces that were shared, of the frames' present owner.
        private var shared: [VASurfaceID: VAAPISharedSurface] = [:]
        private var owner: UnsafeMutablePointer<AVBufferRef>?

        /// Surfaces beside those that the stream needs as references: the picture that is read, and the next one.
        private static let extraSurfaces: Int32 = 2
        /// Pictures that stay on the device: the newest, and those that are, or were last, composed.
        static let keptPictures = 3

        init(_ device: DecodingDevice) throws(VideoCodingError) {
            display = try VAAPIDisplay(device.device)
            reader = device.reader
            reference = libav_shim_vaapi_device(display.handle)
            guard let reference else {
                throw .hardwareUnavailable(reason: "libavcodec does not decode on \(device.device)")
            }
            // Frames destroy their surfaces when they are freed, which may be later than the decoder.
            UnsafeMutableRawPointer(reference.pointee.data).withMemoryRebound(
                to: AVHWDeviceContext.self, capacity: 1
            ) { context in
                context.pointee.user_opaque = Unmanaged.passRetained(display).toOpaque()
                context.pointee.free = { context in
                    context?.pointee.user_opaque.map { Unmanaged<VAAPIDisplay>.fromOpaque($0).release() }
                }
            }
        }

        deinit {
            // The last reference to libavutil's device lets go of the display.
            av_buffer_unref(&owner)
            av_buffer_unref(&reference)
        }

        /// Has a decoder use the device. Before it is opened.
        func attach(to context: UnsafeMutablePointer<AVCodecContext>) {
            context.pointee.hw_device_ctx = av_buffer_ref(reference)
            context.pointee.get_format = libav_shim_take_vaapi
            context.pointee.extra_hw_frames = Self.extraSurfaces + (reader == nil ? 0 : Int32(Self.keptPictures))
            // Streams that call themselves Baseline use what Constrained Baseline has, nearly always.
            context.pointee.hwaccel_flags |= AV_HWACCEL_FLAG_ALLOW_PROFILE_MISMATCH
        }

        /// The memory of a frame, for others on the device; nil where it is read at once.
        func share(_ frame: LibAVFrame) -> VAAPISharedSurface? {
            guard let reader, let surface = frame.surface, let frames = frame.surfaceOwner else { return nil }
            if owner?.pointee.data != frames.pointee.data {
                // Other frames may have the same numbers.
                shared.removeAll()
                av_buffer_unref(&owner)
                owner = av_buffer_ref(frames)
            }
            guard vaSyncSurface(display.handle, surface) == VA_STATUS_SUCCESS else { return nil }
            if let known = shared[surface] { return known }
            guard let made = VAAPISharedSurface(surface, of: display, reader: reader) else {
                self.reader = nil
                return nil
            }
            shared[surface] = made
            return made
        }
    }
#endif
