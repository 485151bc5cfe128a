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
        var bits = BitString(nalUnit.rawPayload())
        guard bits.removeTrailingBits(), bits.removeLast() == false else { return nil }
        if original.usability == nil {
            bits.append(true)
            // aspect ratio, overscan, video signal, chroma location, timing, two HRDs, pic_struct: all absent
            for _ in 0..<8 { bits.append(false) }
        }
        bits.append(true)
        bits.append(true)  // motion_vectors_over_pic_boundaries_flag
        bits.append(exponentialGolomb: 0)  // max_bytes_per_pic_denom: no limit
        bits.append(exponentialGolomb: 0)  // max_bits_per_mb_denom: no limit
        bits.append(exponentialGolomb: 16)  // log2_max_mv_length_horizontal
        bits.append(exponentialGolomb: 16)  // log2_max_mv_length_vertical
        bits.append(exponentialGolomb: 0)  // max_num_reorder_frames
        bits.append(exponentialGolomb: UInt32(clamping: original.maximumReferenceFrames))  // max_dec_frame_buffering
        bits.append(true)  // rbsp_stop_one_bit
        let rewritten = NALUnit(type: nalUnit.type, referenceIDC: nalUnit.referenceIDC, rawPayload: bits.bytes)
        // Data after an SPS's last known field would have been destroyed: then the SPS is not changed.
        guard var result = try? SequenceParameterSet(parsing: rewritten),
            result.usability?.bitstreamRestriction?.maximumReorderFrames == 0
        else { return nil }
        if original.usability == nil { result.usability = nil } else { result.usability?.bitstreamRestriction = nil }
        return result == original ? rewritten : nil
    }
}

/// Bits that grow and shrink at their end.
private struct BitString {
    private(set) var bytes: [UInt8]
    private var count: Int

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        count = bytes.count * 8
    }

    /// Takes off `rbsp_trailing_bits`; false when there is no stop bit.
    mutating func removeTrailingBits() -> Bool {
        while let last = removeLast() {
            if last { return true }
        }
        return false
    }

    mutating func removeLast() -> Bool? {
        guard count > 0 else { return nil }
        count -= 1
        let mask = UInt8(0x80) >> (count & 7)
        let bit = bytes[count >> 3] & mask != 0
        bytes[count >> 3] &= ~mask
        if count & 7 == 0 { bytes.removeLast() }
        return bit
    }

    mutating func append(_ bit: Bool) {
        if count & 7 == 0 { bytes.append(0) }
        if bit { bytes[count >> 3] |= UInt8(0x80) >> (count & 7) }
        count += 1
    }

    /// `ue(v)` (H.264 9.1).
    mutating func append(exponentialGolomb value: UInt32) {
        let code = UInt64(value) + 1
        let length = 64 - code.leadingZeroBitCount
        for _ in 1..<length { append(false) }
        for index in stride(from: length - 1, through: 0, by: -1) { append(code >> UInt64(index) & 1 == 1) }
    }
}
