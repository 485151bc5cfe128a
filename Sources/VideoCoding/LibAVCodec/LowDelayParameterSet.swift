import H264

/// Adds to an SPS that no frame is reordered, if its profile or picture order count type implies it, or if
/// `ReorderEstimator` found it out.
///
/// A decoder without this information has to guess. libavcodec takes a gap in picture order counts (after the loss of
/// an unreferenced frame, or without a layer of frames) for reordering and delays the output by a frame from then on.
enum LowDelayParameterSet {
    /// The SPS with `bitstream_restriction` (H.264 E.1.1) and `max_num_reorder_frames` 0; nil when `nalUnit` has a
    /// restriction already or is not an SPS that can be extended.
    static func rewrite(_ nalUnit: NALUnit) -> NALUnit? {
        guard let original = try? SequenceParameterSet(parsing: nalUnit),
            original.usability?.bitstreamRestriction == nil
        else { return nil }
        // The flag to set is the last bit before the stop bit: vui_parameters_present_flag without a VUI,
        // bitstream_restriction_flag with one.
        var bits = BitWriter(nalUnit.rawPayload())
        guard bits.removeStop(), bits.removeLast() == false else { return nil }
        if original.usability == nil {
            bits.flag(true)
            // aspect ratio, overscan, video signal, chroma location, timing, two HRDs, pic_struct: all absent
            bits.bits(0, 8)
        }
        bits.flag(true)
        bits.flag(true)  // motion_vectors_over_pic_boundaries_flag
        bits.unsigned(0)  // max_bytes_per_pic_denom: no limit
        bits.unsigned(0)  // max_bits_per_mb_denom: no limit
        bits.unsigned(16)  // log2_max_mv_length_horizontal
        bits.unsigned(16)  // log2_max_mv_length_vertical
        bits.unsigned(0)  // max_num_reorder_frames
        bits.unsigned(original.maximumReferenceFrames)  // max_dec_frame_buffering
        bits.flag(true)  // rbsp_stop_one_bit
        let rewritten = NALUnit(type: nalUnit.type, referenceIDC: nalUnit.referenceIDC, rawPayload: bits.bytes)
        // Data after an SPS's last known field would have been destroyed: then the SPS is not changed.
        guard var result = try? SequenceParameterSet(parsing: rewritten),
            result.usability?.bitstreamRestriction?.maximumReorderFrames == 0
        else { return nil }
        if original.usability == nil { result.usability = nil } else { result.usability?.bitstreamRestriction = nil }
        return result == original ? rewritten : nil
    }
}
