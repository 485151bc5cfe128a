#if X264
    import CX264
    import MediaCore
    import NIOCore

    /// x264, set up for passes over a recording: a constant rate factor, closed groups of pictures, all the lookahead
    /// that the preset has.
    ///
    /// One encoder makes a whole stream, or one or several groups of pictures that take the place of others in it: the
    /// parameter sets follow from the settings alone (`b_stitchable`), and what counts from an IDR picture on starts
    /// again with each of them.
    final class X264GroupEncoder {
        /// Where key frames come from.
        enum KeyFrames {
            /// x264 puts them at scene cuts, and at the settings' interval.
            case chosen
            /// Only those that are asked for.
            case given
        }

        private let encoder: OpaquePointer
        private var parameters = x264_param_t()

        init(settings: MultiPassSettings, rateFactor: Double, keyFrames: KeyFrames) throws(VideoCodingError) {
            let preset =
                switch settings.preset {
                case .fastest: "veryfast"
                case .balanced: "medium"
                case .quality: "slow"
                }
            guard x264_param_default_preset(&parameters, preset, nil) == 0 else {
                throw .codecUnavailable(reason: "this x264 does not know the preset \(preset)")
            }
            Self.fill(&parameters, settings: settings, rateFactor: rateFactor, keyFrames: keyFrames)
            let profile = settings.profile == .constrainedBaseline ? "baseline" : settings.profile.rawValue
            guard x264_param_apply_profile(&parameters, profile) == 0,
                let opened = x264_shim_encoder_open(&parameters)
            else {
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
            _ parameters: inout x264_param_t, settings: MultiPassSettings, rateFactor: Double, keyFrames: KeyFrames
        ) {
            // x264 measures nothing for those who do not want to know of it.
            parameters.i_log_level = X264_LOG_INFO
            parameters.pf_log = { _, _, _, _ in }
            // The same stream on every machine.
            parameters.i_threads = 1
            parameters.i_lookahead_threads = 1
            parameters.i_sync_lookahead = 0
            parameters.b_deterministic = 1
            parameters.i_width = Int32(settings.dimensions.width)
            parameters.i_height = Int32(settings.dimensions.height)
            parameters.i_csp = X264_CSP_I420
            parameters.i_level_idc = Int32(settings.level.levelIDC)
            parameters.i_fps_num = UInt32(settings.frameRate)
            parameters.i_fps_den = 1
            parameters.i_timebase_num = 1
            parameters.i_timebase_den = UInt32(settings.frameRate)
            parameters.b_vfr_input = 0
            if !settings.allowsFrameReordering { parameters.i_bframe = 0 }
            parameters.b_open_gop = 0
            parameters.i_keyint_max = Int32(clamping: settings.maximumKeyFrameInterval)
            // x264 makes of a larger one what the largest interval allows. A scene cut gets an I picture then, which is no
            // IDR picture.
            if keyFrames == .given { parameters.i_keyint_min = X264_KEYINT_MAX_INFINITE }
            if !settings.usesArithmeticCoding { parameters.b_cabac = 0 }
            parameters.b_repeat_headers = 0
            parameters.b_annexb = 0
            parameters.b_stitchable = 1
            parameters.rc.i_rc_method = X264_RC_CRF
            parameters.rc.f_rf_constant = Float(rateFactor)
            parameters.analyse.b_ssim = 1
            // Frames that nothing refers to are deblocked too, so that what is measured is what is decoded.
            parameters.b_full_recon = 1
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

        /// Takes a picture in, and gives a frame out once the lookahead is full.
        ///
        /// - Parameter number: The picture's place in the order of presentation; the frame made of it has it too.
        func encode(
            _ picture: PixelBuffer, number: Int, isKeyFrame: Bool
        ) throws(VideoCodingError) -> GroupFrame? {
            var input = x264_picture_t()
            x264_picture_init(&input)
            input.i_type = isKeyFrame ? X264_TYPE_IDR : X264_TYPE_AUTO
            input.i_pts = Int64(number)
            input.img.i_csp = X264_CSP_I420
            input.img.i_plane = 3
            var frame: GroupFrame?
            var failure = VideoCodingError.encodingFailed(backEnd: .x264, code: -1)
            let isDone = picture.withI420Planes { planes in
                input.img.i_stride = (planes[0].stride, planes[1].stride, planes[2].stride, 0)
                input.img.plane = (planes[0].base, planes[1].base, planes[2].base, nil)
                do throws(VideoCodingError) {
                    frame = try run(&input)
                    return true
                } catch {
                    failure = error
                    return false
                }
            }
            guard isDone == true else { throw failure }
            return frame
        }

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
            guard status > 0, count > 0, let first = units?.pointee, let start = first.p_payload else { return nil }
            return GroupFrame(
                data: ByteBuffer(bytes: UnsafeRawBufferPointer(start: start, count: Int(status))),
                number: Int(result.i_pts), isKeyFrame: result.i_type == X264_TYPE_IDR,
                isReference: first.i_ref_idc != 0,
                averageQP: result.i_qpplus1 > 0 ? Int(result.i_qpplus1) - 1 : nil,
                structuralSimilarity: result.prop.f_ssim)
        }
    }
#endif
