#if X264
    import CX264
    import MediaCore
    import NIOCore

    /// x264, set up for calls: zero latency, one thread, one reference, no B-frames, key frames on request alone.
    ///
    /// The rate is held by capping a constant quality with a buffer (VBV) as long as the latency budget: unlike its
    /// average-bitrate mode this follows a new rate within a frame or two, and no frame exceeds the buffer.
    final class X264Encoder: EncoderBackEndSession {
        private(set) var parameterSets: [ByteBuffer] = []

        private let encoder: OpaquePointer
        private var parameters: x264_param_t
        private let latencyBudget: Duration
        /// What x264 counts with, fixed for the stream's life: other frame rates are made by scaling the bitrate.
        private let nominalFrameRate: Int
        private var rate: EncodingRate
        /// Set for one frame after the rate fell.
        private var isBufferTight = false
        private var frameNumber: Int64 = 0

        /// Better than the cap lets most frames be, so that the cap decides.
        private static let constantQuality: Float = 10
        /// How much of a frame the buffer holds right after the rate fell.
        private static let tightBufferFrames = 1.25

        init(configuration: CompressionConfiguration, level: H264Level, rate: EncodingRate) throws(VideoCodingError) {
            parameters = x264_param_t()
            let preset =
                switch configuration.preset {
                case .fastest: "superfast"
                case .balanced: "veryfast"
                case .quality: "fast"
                }
            guard x264_param_default_preset(&parameters, preset, "zerolatency") == 0 else {
                throw .codecUnavailable(reason: "this x264 does not know the preset \(preset)")
            }
            latencyBudget = configuration.latencyBudget
            nominalFrameRate = rate.frameRate
            self.rate = rate
            Self.fill(&parameters, configuration: configuration, level: level, frameRate: rate.frameRate)
            Self.setBuffer(&parameters, rate: rate, nominalFrameRate: rate.frameRate, length: latencyBudget)
            let profile = configuration.profile == .constrainedBaseline ? "baseline" : configuration.profile.rawValue
            guard x264_param_apply_profile(&parameters, profile) == 0,
                let opened = x264_shim_encoder_open(&parameters)
            else {
                x264_param_cleanup(&parameters)
                throw .codecUnavailable(reason: "x264 made no encoder")
            }
            encoder = opened
            parameterSets = try readParameterSets()
        }

        deinit {
            x264_encoder_close(encoder)
            x264_param_cleanup(&parameters)
        }

        private static func fill(
            _ parameters: inout x264_param_t, configuration: CompressionConfiguration, level: H264Level,
            frameRate: Int
        ) {
            parameters.i_log_level = X264_LOG_NONE
            parameters.i_threads = 1
            parameters.b_sliced_threads = 0
            parameters.i_width = Int32(configuration.dimensions.width)
            parameters.i_height = Int32(configuration.dimensions.height)
            parameters.i_csp = X264_CSP_I420
            parameters.i_level_idc = Int32(level.levelIDC)
            parameters.i_fps_num = UInt32(frameRate)
            parameters.i_fps_den = 1
            parameters.i_timebase_num = 1
            parameters.i_timebase_den = UInt32(frameRate)
            parameters.b_vfr_input = 0
            parameters.i_frame_reference = 1
            parameters.i_bframe = 0
            parameters.i_keyint_max = X264_KEYINT_MAX_INFINITE
            parameters.i_scenecut_threshold = 0
            parameters.b_intra_refresh = 0
            if let size = configuration.maximumSliceSize { parameters.i_slice_max_size = Int32(clamping: size.bytes) }
            parameters.b_repeat_headers = 0
            parameters.b_annexb = 0
            parameters.b_cabac = configuration.profile == .constrainedBaseline ? 0 : 1
            parameters.rc.i_rc_method = X264_RC_CRF
            parameters.rc.f_rf_constant = constantQuality
            parameters.rc.i_qp_min = 10
        }

        /// Caps the rate by a buffer of `length`. x264 adds a frame's share at the nominal frame rate to the buffer with
        /// each frame, so a bitrate at another frame rate is scaled to give each frame what it is due.
        private static func setBuffer(
            _ parameters: inout x264_param_t, rate: EncodingRate, nominalFrameRate: Int, length: Duration
        ) {
            let scale = Double(nominalFrameRate) / Double(max(1, rate.frameRate))
            let frame = rate.bitRate.kilobitsPerSecond / Double(max(1, rate.frameRate))
            let buffer = max(rate.bitRate.kilobitsPerSecond * length.seconds, frame)
            parameters.rc.i_vbv_max_bitrate = Int32(clamping: Int((rate.bitRate * scale).kilobitsPerSecond.rounded()))
            parameters.rc.i_vbv_buffer_size = Int32(clamping: DataSize(bytes: buffer.rounded(.up)).bytes)
        }

        func setRate(_ rate: EncodingRate) throws(VideoCodingError) {
            // What the buffer holds at the higher rate is no credit at the lower one: it would be spent in a burst.
            let hasFallen =
                rate.bitRate.kilobitsPerSecond / Double(rate.frameRate)
                < self.rate.bitRate.kilobitsPerSecond / Double(self.rate.frameRate)
            self.rate = rate
            isBufferTight = isBufferTight || hasFallen
            let tight = Duration.seconds(Self.tightBufferFrames / Double(rate.frameRate))
            try reconfigure(bufferLength: isBufferTight ? min(tight, latencyBudget) : latencyBudget)
        }

        private func reconfigure(bufferLength: Duration) throws(VideoCodingError) {
            Self.setBuffer(&parameters, rate: rate, nominalFrameRate: nominalFrameRate, length: bufferLength)
            let status = x264_encoder_reconfig(encoder, &parameters)
            guard status == 0 else { throw .encodingFailed(backEnd: .x264, code: Int(status)) }
        }

        func encode(
            _ picture: PixelBuffer, presentationTime: MediaTime, forceKeyFrame: Bool
        ) throws(VideoCodingError) -> BackEndFrame? {
            var input = x264_picture_t()
            x264_picture_init(&input)
            var result = x264_picture_t()
            var units: UnsafeMutablePointer<x264_nal_t>?
            var count: Int32 = 0
            input.i_type = forceKeyFrame ? X264_TYPE_IDR : X264_TYPE_AUTO
            // Frames are counted rather than timed: the rate control goes by frames.
            input.i_pts = frameNumber
            frameNumber += 1
            let status = picture.withI420Planes { planes in
                input.img.i_csp = X264_CSP_I420
                input.img.i_plane = 3
                input.img.i_stride = (planes[0].stride, planes[1].stride, planes[2].stride, 0)
                input.img.plane = (planes[0].base, planes[1].base, planes[2].base, nil)
                return x264_encoder_encode(encoder, &units, &count, &input, &result)
            }
            guard let status, status >= 0 else {
                throw .encodingFailed(backEnd: .x264, code: Int(status ?? -1))
            }
            if isBufferTight {
                isBufferTight = false
                try reconfigure(bufferLength: latencyBudget)
            }
            // The payloads lie one behind the other, each with its length before it.
            guard status > 0, count > 0, let start = units?.pointee.p_payload else { return nil }
            let data = ByteBuffer(bytes: UnsafeRawBufferPointer(start: start, count: Int(status)))
            return BackEndFrame(
                data: data, isKeyFrame: result.b_keyframe != 0,
                averageQP: result.i_qpplus1 > 0 ? Int(result.i_qpplus1) - 1 : nil)
        }

        private func readParameterSets() throws(VideoCodingError) -> [ByteBuffer] {
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
    }
#endif
