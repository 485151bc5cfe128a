public import MediaCore

/// An SPS's parameters of presentation and buffering: `vui_parameters()` (H.264 E.1.1). Missing ones are nil.
public struct VideoUsabilityInformation: Hashable, Sendable {
    /// The meaning of samples: `video_signal_type` (E.2.1).
    public struct VideoSignal: Hashable, Sendable {
        /// `video_format`: 0 component, 1 PAL, 2 NTSC, 3 SECAM, 4 MAC, 5 unspecified.
        public var videoFormat: UInt8
        /// The colour description; code points that were not sent are unspecified.
        public var colour: ColourDescription
    }

    /// `chroma_sample_loc_type_top_field` and `_bottom_field`, 0 to 5.
    public struct ChromaLocation: Hashable, Sendable {
        public var topField: Int
        public var bottomField: Int
    }

    /// The clock of the stream. A frame takes two ticks.
    public struct Timing: Hashable, Sendable {
        /// `num_units_in_tick`.
        public var unitsInTick: UInt32
        /// `time_scale`: units per second.
        public var timeScale: UInt32
        public var isFixedFrameRate: Bool

        /// Frames per second; nil when the numbers make no sense.
        public var frameRate: Double? {
            guard unitsInTick > 0, timeScale > 0 else { return nil }
            return Double(timeScale) / (2 * Double(unitsInTick))
        }
    }

    /// `bitstream_restriction`.
    public struct BitstreamRestriction: Hashable, Sendable {
        public var motionVectorsOverPictureBoundaries: Bool
        public var maximumBytesPerPictureDenominator: Int
        public var maximumBitsPerMacroblockDenominator: Int
        public var log2MaximumHorizontalMotionVectorLength: Int
        public var log2MaximumVerticalMotionVectorLength: Int
        /// `max_num_reorder_frames`.
        public var maximumReorderFrames: Int
        /// `max_dec_frame_buffering`.
        public var maximumDecodedFrameBuffering: Int
    }

    /// Width and height of a sample; nil if unspecified.
    public var sampleAspectRatio: VideoDimensions?
    /// `overscan_appropriate_flag`.
    public var isOverscanAppropriate: Bool?
    public var videoSignal: VideoSignal?
    public var chromaLocation: ChromaLocation?
    public var timing: Timing?
    public var nalParameters: HypotheticalReferenceDecoderParameters?
    public var vclParameters: HypotheticalReferenceDecoderParameters?
    /// `low_delay_hrd_flag`.
    public var isLowDelay: Bool?
    /// `pic_struct_present_flag`.
    public var hasPictureStructure: Bool
    public var bitstreamRestriction: BitstreamRestriction?

    init(parsing reader: inout BitReader) throws(H264ParseError) {
        sampleAspectRatio =
            try reader.flag("aspect_ratio_info_present_flag") ? Self.parseAspectRatio(&reader) : nil
        isOverscanAppropriate =
            try reader.flag("overscan_info_present_flag") ? reader.flag("overscan_appropriate_flag") : nil
        videoSignal = try reader.flag("video_signal_type_present_flag") ? VideoSignal(parsing: &reader) : nil
        if try reader.flag("chroma_loc_info_present_flag") {
            let top = try reader.unsigned("chroma_sample_loc_type_top_field", in: 0...5)
            let bottom = try reader.unsigned("chroma_sample_loc_type_bottom_field", in: 0...5)
            chromaLocation = ChromaLocation(topField: top, bottomField: bottom)
        }
        if try reader.flag("timing_info_present_flag") {
            let unitsInTick = try reader.bits(32, "num_units_in_tick")
            let timeScale = try reader.bits(32, "time_scale")
            let isFixed = try reader.flag("fixed_frame_rate_flag")
            timing = Timing(unitsInTick: unitsInTick, timeScale: timeScale, isFixedFrameRate: isFixed)
        }
        if try reader.flag("nal_hrd_parameters_present_flag") {
            nalParameters = try HypotheticalReferenceDecoderParameters(parsing: &reader)
        }
        if try reader.flag("vcl_hrd_parameters_present_flag") {
            vclParameters = try HypotheticalReferenceDecoderParameters(parsing: &reader)
        }
        if nalParameters != nil || vclParameters != nil {
            isLowDelay = try reader.flag("low_delay_hrd_flag")
        }
        hasPictureStructure = try reader.flag("pic_struct_present_flag")
        bitstreamRestriction =
            try reader.flag("bitstream_restriction_flag") ? BitstreamRestriction(parsing: &reader) : nil
    }

    /// Sample aspect ratios of table E-1, from `aspect_ratio_idc` 1 on.
    private static let aspectRatios: [(Int, Int)] = [
        (1, 1), (12, 11), (10, 11), (16, 11), (40, 33), (24, 11), (20, 11), (32, 11), (80, 33), (18, 11), (15, 11),
        (64, 33), (160, 99), (4, 3), (3, 2), (2, 1),
    ]
    private static let extendedAspectRatio = 255

    private static func parseAspectRatio(_ reader: inout BitReader) throws(H264ParseError) -> VideoDimensions? {
        let index = Int(try reader.byte("aspect_ratio_idc"))
        if index == extendedAspectRatio {
            let width = Int(try reader.bits(16, "sar_width"))
            let height = Int(try reader.bits(16, "sar_height"))
            return width > 0 && height > 0 ? VideoDimensions(width: width, height: height) : nil
        }
        guard index > 0, index <= aspectRatios.count else { return nil }
        let (width, height) = aspectRatios[index - 1]
        return VideoDimensions(width: width, height: height)
    }
}

extension VideoUsabilityInformation.VideoSignal {
    fileprivate init(parsing reader: inout BitReader) throws(H264ParseError) {
        videoFormat = UInt8(try reader.bits(3, "video_format"))
        colour = ColourDescription(isFullRange: try reader.flag("video_full_range_flag"))
        guard try reader.flag("colour_description_present_flag") else { return }
        colour.primaries = try reader.byte("colour_primaries")
        colour.transferCharacteristics = try reader.byte("transfer_characteristics")
        colour.matrixCoefficients = try reader.byte("matrix_coefficients")
    }
}

extension VideoUsabilityInformation.BitstreamRestriction {
    fileprivate init(parsing reader: inout BitReader) throws(H264ParseError) {
        motionVectorsOverPictureBoundaries = try reader.flag("motion_vectors_over_pic_boundaries_flag")
        maximumBytesPerPictureDenominator = try reader.unsigned("max_bytes_per_pic_denom")
        maximumBitsPerMacroblockDenominator = try reader.unsigned("max_bits_per_mb_denom")
        log2MaximumHorizontalMotionVectorLength = try reader.unsigned("log2_max_mv_length_horizontal")
        log2MaximumVerticalMotionVectorLength = try reader.unsigned("log2_max_mv_length_vertical")
        maximumReorderFrames = try reader.unsigned("max_num_reorder_frames", in: 0...16)
        maximumDecodedFrameBuffering = try reader.unsigned("max_dec_frame_buffering", in: 0...16)
    }
}
