import MediaCore

extension SequenceParameterSet {
    /// Profiles whose SPS states the chroma format, bit depths and scaling lists (H.264 7.3.2.1.1).
    private static let profilesWithChromaFormat: Set<UInt8> = [
        100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135,
    ]

    /// Parses an SPS NAL unit, of at most `NALUnit.maximumParameterSetSize`. A picture larger than
    /// `VideoFormatDescription.maximumDimension` is an error.
    public init(parsing nalUnit: NALUnit) throws(H264ParseError) {
        guard nalUnit.type == .sequenceParameterSet else {
            throw .unexpectedType(nalUnit.type, expected: .sequenceParameterSet)
        }
        try nalUnit.checkParameterSetSize()
        var reader = BitReader(nalUnit.rawPayload())
        let profile = try reader.byte("profile_idc")
        let constraints = try reader.byte("constraint_set_flags")
        let level = try reader.byte("level_idc")
        profileLevel = H264ProfileLevelID(
            profileIDC: profile, constraintFlags: constraints, levelIDC: level)
        id = UInt8(try reader.unsigned("seq_parameter_set_id", in: 0...31))
        if Self.profilesWithChromaFormat.contains(profile) {
            chromaFormat = UInt8(try reader.unsigned("chroma_format_idc", in: 0...3))
            if chromaFormat == 3 { hasSeparateColourPlanes = try reader.flag("separate_colour_plane_flag") }
            lumaBitDepth = UInt8(try reader.unsigned("bit_depth_luma_minus8", in: 0...6) + 8)
            chromaBitDepth = UInt8(try reader.unsigned("bit_depth_chroma_minus8", in: 0...6) + 8)
            bypassesTransformAtZeroQP = try reader.flag("qpprime_y_zero_transform_bypass_flag")
            if try reader.flag("seq_scaling_matrix_present_flag") {
                scalingMatrix = try ScalingMatrix(parsing: &reader, lists8x8: chromaFormat == 3 ? 6 : 2)
            }
        }
        log2MaximumFrameNumber = try reader.unsigned("log2_max_frame_num_minus4", in: 0...12) + 4
        pictureOrderCount = try PictureOrderCount(parsing: &reader)
        maximumReferenceFrames = try reader.unsigned("max_num_ref_frames", in: 0...16)
        allowsFrameNumberGaps = try reader.flag("gaps_in_frame_num_value_allowed_flag")
        let widthInMacroblocks = try reader.unsigned("pic_width_in_mbs_minus1") + 1
        let heightInMapUnits = try reader.unsigned("pic_height_in_map_units_minus1") + 1
        isFrameOnly = try reader.flag("frame_mbs_only_flag")
        if !isFrameOnly { isMacroblockAdaptive = try reader.flag("mb_adaptive_frame_field_flag") }
        infersDirect8x8 = try reader.flag("direct_8x8_inference_flag")
        // Both counts are below 2³², so the products fit.
        codedDimensions = VideoDimensions(
            width: widthInMacroblocks * 16, height: heightInMapUnits * (isFrameOnly ? 16 : 32))
        if try reader.flag("frame_cropping_flag") {
            let unitX = chromaArrayType == 1 || chromaArrayType == 2 ? 2 : 1
            let unitY = (chromaArrayType == 1 ? 2 : 1) * (isFrameOnly ? 1 : 2)
            cropping.left = try reader.unsigned("frame_crop_left_offset") * unitX
            cropping.right = try reader.unsigned("frame_crop_right_offset") * unitX
            cropping.top = try reader.unsigned("frame_crop_top_offset") * unitY
            cropping.bottom = try reader.unsigned("frame_crop_bottom_offset") * unitY
        }
        let limit = (VideoFormatDescription.maximumDimension + 31) / 32 * 32
        guard codedDimensions.width <= limit, codedDimensions.height <= limit,
            dimensions.width > 0, dimensions.height > 0,
            max(dimensions.width, dimensions.height) <= VideoFormatDescription.maximumDimension
        else {
            throw .unsupportedDimensions(
                width: Int64(codedDimensions.width), height: Int64(codedDimensions.height))
        }
        usability =
            try reader.flag("vui_parameters_present_flag") ? VideoUsabilityInformation(parsing: &reader) : nil
    }
}

extension SequenceParameterSet.PictureOrderCount {
    fileprivate init(parsing reader: inout BitReader) throws(H264ParseError) {
        switch try reader.unsigned("pic_order_cnt_type", in: 0...2) {
        case 0:
            self = .explicit(
                log2MaximumLSB: try reader.unsigned("log2_max_pic_order_cnt_lsb_minus4", in: 0...12) + 4)
        case 1:
            let isAlwaysZero = try reader.flag("delta_pic_order_always_zero_flag")
            let nonReference = try reader.signed("offset_for_non_ref_pic")
            let topToBottom = try reader.signed("offset_for_top_to_bottom_field")
            let count = try reader.unsigned("num_ref_frames_in_pic_order_cnt_cycle", in: 0...255)
            var offsets: [Int] = []
            for _ in 0..<count { offsets.append(try reader.signed("offset_for_ref_frame")) }
            self = .cyclic(
                deltaIsAlwaysZero: isAlwaysZero, offsetForNonReferencePicture: nonReference,
                offsetForTopToBottomField: topToBottom, offsetsForReferenceFrames: offsets)
        default:
            self = .decodingOrder
        }
    }
}
