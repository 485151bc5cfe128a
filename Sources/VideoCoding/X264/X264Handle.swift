#if X264
    import CX264
    import MediaCore
    import NIOCore

    /// One open x264 encoder with its parameters.
    final class X264Handle {
        /// A coded frame. `bytes` is x264's memory until the next call.
        struct Output {
            /// The NAL units one behind the other, each with its length before it.
            var bytes: UnsafeRawBufferPointer
            /// The caller's number of the picture.
            var serial: Int64
            var temporalLayer: Int
            var averageQP: Int?
            /// Type, times and measurements.
            var picture: x264_picture_t
        }

        private let encoder: OpaquePointer
        private var parameters: x264_param_t
        private let temporalLayers: Int

        /// Opens an encoder. Takes over the parameters' memory, also if it throws.
        init(_ parameters: x264_param_t, temporalLayers: Int) throws(VideoCodingError) {
            self.parameters = parameters
            self.temporalLayers = temporalLayers
            guard let opened = x264_shim_encoder_open(&self.parameters) else {
                x264_param_cleanup(&self.parameters)
                throw .codecUnavailable(reason: "x264 made no encoder")
            }
            encoder = opened
        }

        deinit {
            x264_encoder_close(encoder)
            x264_param_cleanup(&parameters)
        }

        /// Changes parameters between two frames.
        func reconfigure(_ change: (inout x264_param_t) throws(VideoCodingError) -> Void) throws(VideoCodingError) {
            try change(&parameters)
            try check(x264_encoder_reconfig(encoder, &parameters))
        }

        /// SPS and PPS, without start codes.
        func parameterSets() throws(VideoCodingError) -> [ByteBuffer] {
            var units: UnsafeMutablePointer<x264_nal_t>?
            var count: Int32 = 0
            let status = x264_encoder_headers(encoder, &units, &count)
            guard status > 0 else { throw .encodingFailed(backEnd: .x264, code: Int(status)) }
            return UnsafeBufferPointer(start: units, count: Int(count)).compactMap { unit in
                guard unit.i_type == Int32(NAL_SPS.rawValue) || unit.i_type == Int32(NAL_PPS.rawValue),
                    unit.i_payload > 4
                else { return nil }
                return ByteBuffer(
                    bytes: UnsafeRawBufferPointer(start: unit.p_payload + 4, count: Int(unit.i_payload) - 4))
            }
        }

        /// Takes a picture in, and gives a frame out unless x264 holds it back.
        ///
        /// - Parameters:
        ///   - time: The picture's place in the order of presentation.
        ///   - serial: Comes back with the frame.
        ///   - prepare: Sets what else x264 is told of the picture.
        func encode(
            _ picture: PixelBuffer, time: Int64, serial: Int64, isKeyframe: Bool,
            _ prepare: (inout x264_picture_t) -> Void = { _ in }
        ) throws(VideoCodingError) -> Output? {
            var input = x264_picture_t()
            x264_picture_init(&input)
            input.i_type = isKeyframe ? X264_TYPE_IDR : X264_TYPE_AUTO
            input.i_pts = time
            // The value that comes back with the frame, as a pointer; zero would be nil.
            input.opaque = UnsafeMutableRawPointer(bitPattern: Int(truncatingIfNeeded: serial) &+ 1)
            prepare(&input)
            return try picture.withEncoderPlanes { first, second, third in
                Result { () throws(VideoCodingError) -> Output? in
                    input.img.i_csp = picture.format == .nv12 ? X264_CSP_NV12 : X264_CSP_I420
                    input.img.i_plane = picture.format == .nv12 ? 2 : 3
                    input.img.i_stride = (first.stride, second.stride, third.stride, 0)
                    input.img.plane = (first.base, second.base, third.base, nil)
                    return try run(&input)
                }
            }.get()
        }

        /// The next of the frames that x264 holds back; nil if there is none left.
        func nextDelayedFrame() throws(VideoCodingError) -> Output? {
            while x264_encoder_delayed_frames(encoder) > 0 {
                if let output = try run(nil) { return output }
            }
            return nil
        }

        /// Keeps later pictures from referring to the picture of this time or to any after it.
        func invalidateReference(_ time: Int64) throws(VideoCodingError) {
            try check(x264_encoder_invalidate_reference(encoder, time))
        }

        private func run(_ input: UnsafeMutablePointer<x264_picture_t>?) throws(VideoCodingError) -> Output? {
            var result = x264_picture_t()
            var units: UnsafeMutablePointer<x264_nal_t>?
            var count: Int32 = 0
            let status = x264_encoder_encode(encoder, &units, &count, input, &result)
            guard status >= 0 else { throw .encodingFailed(backEnd: .x264, code: Int(status)) }
            guard status > 0, count > 0, let start = units?.pointee.p_payload else { return nil }
            let layer =
                switch result.i_type {
                case X264_TYPE_BREF: min(1, temporalLayers - 1)
                case X264_TYPE_B: temporalLayers - 1
                default: 0
                }
            return Output(
                bytes: UnsafeRawBufferPointer(start: start, count: Int(status)),
                serial: Int64(Int(bitPattern: result.opaque)) - 1, temporalLayer: layer,
                averageQP: result.i_qpplus1 > 0 ? Int(result.i_qpplus1) - 1 : nil, picture: result)
        }

        private func check(_ status: Int32) throws(VideoCodingError) {
            guard status == 0 else { throw .encodingFailed(backEnd: .x264, code: Int(status)) }
        }
    }
#endif
