#if X264
    import CX264
    import H264
    import MediaCore
    import NIOCore
    import Testing

    @testable import VideoCoding

    /// A stream of two B-frames between references, in decoding order.
    func makeReorderedStream(
        frames: Int, dimensions: VideoDimensions = smallPicture, profile: String = "main"
    ) throws -> [SampleBuffer] {
        var parameters = x264_param_t()
        try #require(x264_param_default_preset(&parameters, "veryfast", nil) == 0)
        parameters.i_log_level = X264_LOG_NONE
        parameters.i_threads = 1
        parameters.i_width = Int32(dimensions.width)
        parameters.i_height = Int32(dimensions.height)
        parameters.i_csp = X264_CSP_I420
        parameters.i_bframe = 2
        parameters.i_bframe_adaptive = X264_B_ADAPT_NONE
        parameters.b_repeat_headers = 0
        parameters.b_annexb = 0
        try #require(x264_param_apply_profile(&parameters, profile) == 0)
        let encoder = try #require(x264_shim_encoder_open(&parameters))
        defer {
            x264_encoder_close(encoder)
            x264_param_cleanup(&parameters)
        }
        var units: UnsafeMutablePointer<x264_nal_t>?
        var count: Int32 = 0
        try #require(x264_encoder_headers(encoder, &units, &count) > 0)
        let sets = UnsafeBufferPointer(start: units, count: Int(count)).prefix(2).map { unit in
            ByteBuffer(bytes: UnsafeRawBufferPointer(start: unit.p_payload + 4, count: Int(unit.i_payload) - 4))
        }
        let format = try VideoFormatDescription(h264ParameterSets: sets)
        var samples: [SampleBuffer] = []
        func take(_ size: Int32, _ result: x264_picture_t) {
            guard size > 0, let start = units?.pointee.p_payload else { return }
            samples.append(
                SampleBuffer(
                    data: BlockBuffer(ByteBuffer(bytes: UnsafeRawBufferPointer(start: start, count: Int(size)))),
                    format: format,
                    presentationTime: frameTime(Int(result.i_pts)), isSync: result.b_keyframe != 0))
        }
        var result = x264_picture_t()
        for number in 0..<frames {
            var input = x264_picture_t()
            x264_picture_init(&input)
            input.i_pts = Int64(number)
            let size = MovingPattern(dimensions).picture(number).withI420Planes { planes in
                input.img.i_csp = X264_CSP_I420
                input.img.i_plane = 3
                input.img.i_stride = (planes[0].stride, planes[1].stride, planes[2].stride, 0)
                input.img.plane = (planes[0].base, planes[1].base, planes[2].base, nil)
                return x264_encoder_encode(encoder, &units, &count, &input, &result)
            }
            take(size ?? -1, result)
        }
        while x264_encoder_delayed_frames(encoder) > 0 {
            take(x264_encoder_encode(encoder, &units, &count, nil, &result), result)
        }
        return samples
    }
#endif
