#if X264
    import CX264
    import MediaCore

    extension X264Encoder {
        /// The size of the buffer right after the rate fell, in frames.
        private static let tightBufferFrames = 1.25
        /// The buffer where only the average counts, in seconds.
        private static let averageBufferLength = 2.0
        /// The part of a data rate limit that may be spent at once.
        private static let leastBurst = 0.2

        /// x264's parameters for a session.
        static func makeParameters(
            _ properties: CompressionProperties, dimensions: VideoDimensions
        ) throws(VideoCodingError) -> x264_param_t {
            var parameters = x264_param_t()
            let preset = presetName(properties)
            guard x264_param_default_preset(&parameters, preset, properties.realTime ? "zerolatency" : nil) == 0 else {
                throw .codecUnavailable(reason: "this x264 does not know the preset \(preset)")
            }
            parameters.i_log_level = X264_LOG_NONE
            parameters.i_threads = 1
            parameters.b_sliced_threads = 0
            // Its AVX-512 code for macroblock trees reads memory that it never wrote (seen in build 164): the same
            // pictures come out otherwise each time.
            if parameters.rc.b_mb_tree != 0 { parameters.cpu &= ~UInt32(X264_CPU_AVX512) }
            parameters.i_width = Int32(dimensions.width)
            parameters.i_height = Int32(dimensions.height)
            parameters.i_csp = X264_CSP_I420
            if let level = properties.profileLevel.level { parameters.i_level_idc = Int32(level.levelIDC) }
            setTiming(of: &parameters, frameRate: properties.expectedFrameRate)
            setReferences(of: &parameters, properties, dimensions: dimensions)
            parameters.i_slice_max_size = Int32(clamping: properties.sliceMaxBytes?.bytes ?? 0)
            parameters.b_repeat_headers = 0
            parameters.b_annexb = 0
            parameters.b_cabac = properties.entropyMode == .cabac ? 1 : 0
            setUsability(of: &parameters, properties)
            setRate(
                of: &parameters, properties, nominalFrameRate: properties.expectedFrameRate, isBufferTight: false)
            let profile =
                switch properties.profileLevel.profile {
                case .baseline, .constrainedBaseline: "baseline"
                case .main: "main"
                case .high: "high"
                }
            guard x264_param_apply_profile(&parameters, profile) == 0 else {
                x264_param_cleanup(&parameters)
                throw .codecUnavailable(reason: "this x264 does not know the profile \(profile)")
            }
            return parameters
        }

        /// Sets the thoroughness of a running encoder's search: the part of a preset that x264 can change between two
        /// frames and that does not affect the stream's form.
        static func setSearch(
            of parameters: inout x264_param_t, _ properties: CompressionProperties
        ) throws(VideoCodingError) {
            var wanted = x264_param_t()
            let preset = presetName(properties)
            guard x264_param_default_preset(&wanted, preset, properties.realTime ? "zerolatency" : nil) == 0 else {
                throw .codecUnavailable(reason: "this x264 does not know the preset \(preset)")
            }
            parameters.analyse.i_me_method = wanted.analyse.i_me_method
            parameters.analyse.i_me_range = wanted.analyse.i_me_range
            parameters.analyse.i_subpel_refine = wanted.analyse.i_subpel_refine
            parameters.analyse.i_trellis = wanted.analyse.i_trellis
            parameters.analyse.b_chroma_me = wanted.analyse.b_chroma_me
            parameters.analyse.b_fast_pskip = wanted.analyse.b_fast_pskip
            parameters.analyse.b_dct_decimate = wanted.analyse.b_dct_decimate
            x264_param_cleanup(&wanted)
        }

        private static func presetName(_ properties: CompressionProperties) -> String {
            switch (properties.preset, properties.realTime) {
            case (.fastest, true): "superfast"
            case (.fastest, false), (.balanced, true): "veryfast"
            case (.quality, true): "fast"
            case (.balanced, false): "medium"
            case (.quality, false): "slow"
            }
        }

        private static func setTiming(of parameters: inout x264_param_t, frameRate: Double) {
            // A thousandth tells 29.97 from 30.
            let isWhole = frameRate.rounded() == frameRate
            parameters.i_fps_num = UInt32(clamping: isWhole ? frameRate : (frameRate * 1000).rounded())
            parameters.i_fps_den = isWhole ? 1 : 1000
            parameters.i_timebase_num = parameters.i_fps_den
            parameters.i_timebase_den = parameters.i_fps_num
            parameters.b_vfr_input = 0
        }

        private static func setReferences(
            of parameters: inout x264_param_t, _ properties: CompressionProperties, dimensions: VideoDimensions
        ) {
            // Keyframes come from the session; x264 adds its own at scene changes if there is time to see them.
            parameters.i_keyint_max = X264_KEYINT_MAX_INFINITE
            if properties.realTime {
                parameters.i_frame_reference = 1
                parameters.i_scenecut_threshold = 0
            }
            if !properties.allowFrameReordering { parameters.i_bframe = 0 }
            if properties.temporalLayers > 1 {
                parameters.i_bframe = properties.temporalLayers == 2 ? 1 : 3
                parameters.i_bframe_adaptive = X264_B_ADAPT_NONE
                parameters.i_bframe_pyramid =
                    properties.temporalLayers == 2 ? X264_B_PYRAMID_NONE : X264_B_PYRAMID_STRICT
                parameters.i_scenecut_threshold = 0
            }
            if let period = properties.intraRefreshPeriod {
                parameters.b_intra_refresh = 1
                parameters.i_keyint_max = Int32(clamping: period)
                parameters.i_frame_reference = 1
                parameters.i_scenecut_threshold = 0
            }
            if properties.longTermReferences, let level = properties.profileLevel.level {
                // The number of kept frames, which may exceed the number of searched ones.
                parameters.i_dpb_size = Int32(level.maximumReferenceFrames(for: dimensions))
            }
        }

        private static func setUsability(of parameters: inout x264_param_t, _ properties: CompressionProperties) {
            let aspect = properties.pixelAspectRatio
            if aspect.width != aspect.height {
                parameters.vui.i_sar_width = Int32(aspect.width)
                parameters.vui.i_sar_height = Int32(aspect.height)
            }
            let colour = properties.colour
            if colour != .unspecified {
                parameters.vui.b_fullrange = colour.isFullRange ? 1 : 0
                parameters.vui.i_colorprim = Int32(colour.primaries)
                parameters.vui.i_transfer = Int32(colour.transferCharacteristics)
                parameters.vui.i_colmatrix = Int32(colour.matrixCoefficients)
            }
        }

        /// Sets the rate and the buffer that bounds it.
        ///
        /// In real time this is a cap on a constant quality, by a buffer as long as the latency budget. Unlike the
        /// average-bitrate mode it follows a new rate within a frame or two, and no frame exceeds the buffer. x264 adds
        /// a frame's share at the nominal frame rate to the buffer with each frame, so a bitrate at another frame rate
        /// is scaled to give each frame its share.
        static func setRate(
            of parameters: inout x264_param_t, _ properties: CompressionProperties, nominalFrameRate: Double,
            isBufferTight: Bool
        ) {
            let rate = EncodingRate(properties)
            let kilobits = rate.bitRate.kilobitsPerSecond
            let frameKilobits = rate.frameBits / 1000
            parameters.rc.i_qp_min = 10
            parameters.rc.b_filler = properties.rateControlMode == .constant ? 1 : 0
            var (cap, buffer) = (kilobits, kilobits * properties.latencyBudget.seconds)
            switch properties.rateControlMode {
            case .constant:
                parameters.rc.i_rc_method = X264_RC_CRF
                parameters.rc.f_rf_constant = 10
            case .constrainedVariable:
                parameters.rc.i_rc_method = X264_RC_CRF
                parameters.rc.f_rf_constant = Float(properties.qualityQP)
            case .average:
                parameters.rc.i_rc_method = X264_RC_ABR
                buffer = kilobits * averageBufferLength
            case .quality:
                parameters.rc.i_rc_method = X264_RC_CRF
                parameters.rc.f_rf_constant = Float(properties.qualityQP)
                // The level's bounds: x264 can bound a stream later only if it has done so from the beginning.
                let level = properties.profileLevel
                cap = level.level?.maximumBitRate(profile: level.profile).kilobitsPerSecond ?? kilobits
                buffer = cap * averageBufferLength
            }
            if isBufferTight, properties.rateControlMode != .quality {
                buffer = min(buffer, frameKilobits * tightBufferFrames)
            }
            for limit in properties.dataRateLimits {
                // In any window the output is at most the buffer and the cap's rate over the window.
                let (size, window) = (limit.size.bits / 1000, limit.window.seconds)
                let burst = max(size * leastBurst, size - kilobits * window)
                buffer = min(buffer, burst)
                cap = min(cap, (size - burst) / window)
            }
            if let size = properties.maxFrameBytes { buffer = min(buffer, size.bits / 1000) }
            // x264 takes no buffer that holds less than a frame's share.
            buffer = max(buffer, min(frameKilobits, properties.maxFrameBytes.map { $0.bits / 1000 } ?? .infinity))
            cap = min(cap, buffer * rate.frameRate)
            let scale = nominalFrameRate / max(1, rate.frameRate)
            parameters.rc.i_vbv_max_bitrate = Int32(clamping: Int(max(1, (cap * scale).rounded())))
            parameters.rc.i_vbv_buffer_size = Int32(clamping: Int(max(1, buffer.rounded(.up))))
            parameters.rc.i_bitrate = Int32(clamping: Int(max(1, (min(kilobits, cap) * scale).rounded())))
        }
    }
#endif
