/// The parameters of a number of pictures: `pic_parameter_set_rbsp()` (H.264 7.3.2.2).
public struct PictureParameterSet: Hashable, Sendable {
    /// `pic_parameter_set_id`.
    public var id: UInt8
    /// `seq_parameter_set_id` of the SPS that this refers to.
    public var sequenceParameterSetID: UInt8
    /// `entropy_coding_mode_flag`: CABAC rather than CAVLC.
    public var usesCABAC: Bool
    /// `bottom_field_pic_order_in_frame_present_flag`.
    public var hasBottomFieldPictureOrder: Bool
    /// `num_ref_idx_l0_default_active_minus1` + 1.
    public var defaultReferenceCountL0: Int
    /// `num_ref_idx_l1_default_active_minus1` + 1.
    public var defaultReferenceCountL1: Int
    /// `weighted_pred_flag`.
    public var usesWeightedPrediction: Bool
    /// `weighted_bipred_idc`: 0 default, 1 explicit, 2 implicit.
    public var weightedBipredictionMode: UInt8
    /// `pic_init_qp_minus26` + 26.
    public var initialQP: Int
    /// `pic_init_qs_minus26` + 26.
    public var initialQS: Int
    /// `chroma_qp_index_offset`.
    public var chromaQPOffset: Int
    /// `second_chroma_qp_index_offset`; the same as the first if it was not sent.
    public var secondChromaQPOffset: Int
    /// `deblocking_filter_control_present_flag`.
    public var hasDeblockingControl: Bool
    /// `constrained_intra_pred_flag`.
    public var usesConstrainedIntraPrediction: Bool
    /// `redundant_pic_cnt_present_flag`.
    public var hasRedundantPictureCount: Bool
    /// `transform_8x8_mode_flag`.
    public var uses8x8Transform: Bool
    public var scalingMatrix: ScalingMatrix?

    /// Parses a PPS NAL unit, of at most `NALUnit.maximumParameterSetSize`.
    ///
    /// A PPS with several slice groups (flexible macroblock ordering, H.264 8.2.2) is an error: libavcodec and the
    /// decoders of browsers and phones refuse it too, and its map of macroblocks is as long as a sender likes.
    ///
    /// - Parameter chromaFormat: `chroma_format_idc` of the SPS that it refers to; only 3 (4:4:4) changes the syntax.
    public init(parsing nalUnit: NALUnit, chromaFormat: UInt8 = 1) throws(H264ParseError) {
        guard nalUnit.type == .pictureParameterSet else {
            throw .unexpectedType(nalUnit.type, expected: .pictureParameterSet)
        }
        try nalUnit.checkParameterSetSize()
        var reader = BitReader(nalUnit.rawPayload())
        id = UInt8(try reader.unsigned("pic_parameter_set_id", in: 0...255))
        sequenceParameterSetID = UInt8(try reader.unsigned("seq_parameter_set_id", in: 0...31))
        usesCABAC = try reader.flag("entropy_coding_mode_flag")
        hasBottomFieldPictureOrder = try reader.flag("bottom_field_pic_order_in_frame_present_flag")
        _ = try reader.unsigned("num_slice_groups_minus1", in: 0...0)
        defaultReferenceCountL0 = try reader.unsigned("num_ref_idx_l0_default_active_minus1", in: 0...31) + 1
        defaultReferenceCountL1 = try reader.unsigned("num_ref_idx_l1_default_active_minus1", in: 0...31) + 1
        usesWeightedPrediction = try reader.flag("weighted_pred_flag")
        weightedBipredictionMode = UInt8(try reader.bits(2, "weighted_bipred_idc"))
        // The lower limit is that of 14-bit samples: -(26 + 6 * 6).
        initialQP = try reader.signed("pic_init_qp_minus26", in: -62...25) + 26
        initialQS = try reader.signed("pic_init_qs_minus26", in: -26...25) + 26
        chromaQPOffset = try reader.signed("chroma_qp_index_offset", in: -12...12)
        hasDeblockingControl = try reader.flag("deblocking_filter_control_present_flag")
        usesConstrainedIntraPrediction = try reader.flag("constrained_intra_pred_flag")
        hasRedundantPictureCount = try reader.flag("redundant_pic_cnt_present_flag")
        uses8x8Transform = false
        secondChromaQPOffset = chromaQPOffset
        guard reader.hasMoreData else { return }
        uses8x8Transform = try reader.flag("transform_8x8_mode_flag")
        if try reader.flag("pic_scaling_matrix_present_flag") {
            let count = uses8x8Transform ? (chromaFormat == 3 ? 6 : 2) : 0
            scalingMatrix = try ScalingMatrix(parsing: &reader, lists8x8: count)
        }
        secondChromaQPOffset = try reader.signed("second_chroma_qp_index_offset", in: -12...12)
    }
}

extension PictureParameterSet {
    /// True if the syntax after the transform flag depends on the chroma format of the SPS (H.264 7.3.2.2).
    var dependsOnChromaFormat: Bool { uses8x8Transform && scalingMatrix != nil }
}
