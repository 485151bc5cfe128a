#if X264
    import CX264
    import MediaCore
    import NIOCore

    /// x264 for passes over a recording: a constant rate factor, closed groups of pictures, the preset's whole
    /// lookahead.
    ///
    /// One encoder makes a whole stream, or one or several groups of pictures that replace others in it: the parameter
    /// sets follow from the settings alone (`b_stitchable`), and all counters start again at each IDR picture.
    final class X264GroupEncoder {
        /// The source of keyframes.
        enum Keyframes {
            /// x264 puts them at scene cuts, and at the settings' interval.
            case chosen
            /// Requested keyframes only.
            case given
        }

        private let encoder: OpaquePointer
        private var parameters: x264_param_t
        private let temporalLayers: Int

        init(
            properties: CompressionProperties, dimensions: VideoDimensions, rateFactor: Double, keyframes: Keyframes
        ) throws(VideoCodingError) {
            temporalLayers = properties.temporalLayers
            parameters = try X264Encoder.makeParameters(properties, dimensions: dimensions)
            Self.fill(&parameters, properties: properties, rateFactor: rateFactor, keyframes: keyframes)
            guard let opened = x264_shim_encoder_open(&parameters) else {
                x264_param_cleanup(&parameters)
                throw .codecUnavailable(reason: "x264 made no encoder")
            }
            encoder = opened
        }

        deinit {
            x264_encoder_close(encoder)
            x264_param_cleanup(&parameters)
        }

        private static func fill(
            _ parameters: inout x264_param_t, properties: CompressionProperties, rateFactor: Double,
            keyframes: Keyframes
        ) {
            // x264 measures quality only at this log level.
            parameters.i_log_level = X264_LOG_INFO
            parameters.pf_log = { _, _, _, _ in }
            parameters.analyse.b_ssim = 1
            // Unreferenced frames are deblocked too, so that the measured pictures are the decoded ones.
            parameters.b_full_recon = 1
            parameters.b_open_gop = 0
            parameters.b_stitchable = 1
            parameters.i_keyint_max = Int32(clamping: properties.passKeyframeInterval)
            // x264 reduces a larger value to the one that the largest interval allows. A scene cut gets an I picture
            // then, not an IDR picture.
            if keyframes == .given { parameters.i_keyint_min = X264_KEYINT_MAX_INFINITE }
            parameters.rc.i_rc_method = X264_RC_CRF
            parameters.rc.f_rf_constant = Float(rateFactor)
            parameters.rc.i_vbv_max_bitrate = 0
            parameters.rc.i_vbv_buffer_size = 0
        }

        /// SPS and PPS, without start codes.
        func parameterSets() throws(VideoCodingError) -> [ByteBuffer] { try X264Encoder.readParameterSets(encoder) }

        /// Takes a picture in, and gives a frame out once the lookahead is full.
        ///
        /// - Parameters:
        ///   - number: The picture's place in the order of presentation; it comes back with the frame.
        ///   - serial: Comes back with the frame.
        func encode(
            _ picture: PixelBuffer, number: Int, serial: Int64, isKeyframe: Bool
        ) throws(VideoCodingError) -> GroupFrame? {
            var input = x264_picture_t()
            x264_picture_init(&input)
            input.i_type = isKeyframe ? X264_TYPE_IDR : X264_TYPE_AUTO
            input.i_pts = Int64(number)
            // The value that comes back with the frame, as a pointer; zero would be nil.
            input.opaque = UnsafeMutableRawPointer(bitPattern: Int(truncatingIfNeeded: serial) &+ 1)
            return try picture.withEncoderPlanes { first, second, third in
                Result { () throws(VideoCodingError) -> GroupFrame? in
                    input.img.i_csp = picture.format == .nv12 ? X264_CSP_NV12 : X264_CSP_I420
                    input.img.i_plane = picture.format == .nv12 ? 2 : 3
                    input.img.i_stride = (first.stride, second.stride, third.stride, 0)
                    input.img.plane = (first.base, second.base, third.base, nil)
                    return try run(&input)
                }
            }.get()
        }

        /// Gives the first frame another `idr_pic_id` than 0: the keyframe before it is not handed out.
        func skipKeyframeID(with picture: PixelBuffer, before number: Int) throws(VideoCodingError) {
            _ = try encode(picture, number: number - 1, serial: Self.skipped, isKeyframe: true)
        }

        /// The serial number of frames that are not handed out.
        private static let skipped: Int64 = -1_000

        /// The next of the frames that the lookahead holds; nil when there is none left.
        func nextDelayedFrame() throws(VideoCodingError) -> GroupFrame? {
            while x264_encoder_delayed_frames(encoder) > 0 {
                if let frame = try run(nil) { return frame }
            }
            return nil
        }

        private func run(_ input: UnsafeMutablePointer<x264_picture_t>?) throws(VideoCodingError) -> GroupFrame? {
            var result = x264_picture_t()
            var units: UnsafeMutablePointer<x264_nal_t>?
            var count: Int32 = 0
            let status = x264_encoder_encode(encoder, &units, &count, input, &result)
            guard status >= 0 else { throw .encodingFailed(backEnd: .x264, code: Int(status)) }
            // The payloads lie one behind the other, each with its length before it.
            guard status > 0, count > 0, let start = units?.pointee.p_payload else { return nil }
            let serial = Int64(Int(bitPattern: result.opaque)) - 1
            guard serial != Self.skipped else { return nil }
            return GroupFrame(
                data: ByteBuffer(bytes: UnsafeRawBufferPointer(start: start, count: Int(status))),
                number: Int(result.i_pts), serial: serial,
                isKeyframe: result.i_type == X264_TYPE_IDR, temporalLayer: temporalLayer(of: result.i_type),
                averageQP: result.i_qpplus1 > 0 ? Int(result.i_qpplus1) - 1 : nil,
                structuralSimilarity: result.prop.f_ssim)
        }

        private func temporalLayer(of type: Int32) -> Int {
            switch type {
            case X264_TYPE_BREF: min(1, temporalLayers - 1)
            case X264_TYPE_B: temporalLayers - 1
            default: 0
            }
        }
    }
#endif
