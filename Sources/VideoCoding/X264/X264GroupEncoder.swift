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

        private let handle: X264Handle

        init(
            properties: CompressionProperties, dimensions: VideoDimensions, rateFactor: Double, keyframes: Keyframes
        ) throws(VideoCodingError) {
            var parameters = try X264Encoder.makeParameters(properties, dimensions: dimensions)
            Self.fill(&parameters, properties: properties, rateFactor: rateFactor, keyframes: keyframes)
            handle = try X264Handle(parameters, temporalLayers: properties.temporalLayers)
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
        func parameterSets() throws(VideoCodingError) -> [ByteBuffer] { try handle.parameterSets() }

        /// Takes a picture in, and gives a frame out once the lookahead is full.
        ///
        /// - Parameters:
        ///   - number: The picture's place in the order of presentation; it comes back with the frame.
        ///   - serial: Comes back with the frame.
        func encode(
            _ picture: PixelBuffer, number: Int, serial: Int64, isKeyframe: Bool
        ) throws(VideoCodingError) -> GroupFrame? {
            try handle.encode(picture, time: Int64(number), serial: serial, isKeyframe: isKeyframe).flatMap(makeFrame)
        }

        /// Gives the first frame another `idr_pic_id` than 0: the keyframe before it is not handed out.
        func skipKeyframeID(with picture: PixelBuffer, before number: Int) throws(VideoCodingError) {
            _ = try encode(picture, number: number - 1, serial: Self.skipped, isKeyframe: true)
        }

        /// The serial number of frames that are not handed out.
        private static let skipped: Int64 = -1_000

        /// The next of the frames that the lookahead holds; nil when there is none left.
        func nextDelayedFrame() throws(VideoCodingError) -> GroupFrame? {
            while let output = try handle.nextDelayedFrame() {
                if let frame = makeFrame(output) { return frame }
            }
            return nil
        }

        private func makeFrame(_ output: X264Handle.Output) -> GroupFrame? {
            guard output.serial != Self.skipped else { return nil }
            return GroupFrame(
                data: ByteBuffer(bytes: output.bytes), number: Int(output.picture.i_pts), serial: output.serial,
                isKeyframe: output.picture.i_type == X264_TYPE_IDR, temporalLayer: output.temporalLayer,
                averageQP: output.averageQP, structuralSimilarity: output.picture.prop.f_ssim)
        }
    }
#endif
