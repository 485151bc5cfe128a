import H264
import NIOCore

/// States in an SPS that referenced frames may be dropped, so that a decoder does not take this for a loss.
///
/// Of three temporal layers, frames of the middle one are references. Without them `frame_num` has gaps. A decoder that
/// was told of them inserts frames that nothing refers to (H.264 8.2.5.2), and continues; OpenH264 states each frame's
/// reference, so that the lowest layer finds its own. The library itself always states that there are no gaps.
enum GapTolerantParameterSet {
    /// The parameter set with the flag if it is an SPS; others unchanged.
    static func allowingGaps(_ set: ByteBuffer) -> ByteBuffer { NALUnit(set).flatMap(rewrite)?.bytes ?? set }

    /// The SPS with `gaps_in_frame_num_value_allowed_flag` 1; nil if `nalUnit` has it already or is not an SPS.
    static func rewrite(_ nalUnit: NALUnit) -> NALUnit? {
        guard let original = try? SequenceParameterSet(parsing: nalUnit), !original.allowsFrameNumberGaps else {
            return nil
        }
        var wanted = original
        wanted.allowsFrameNumberGaps = true
        var payload = nalUnit.rawPayload()
        // The flag stands behind fields of variable length: it is the bit that changes this and nothing else.
        for bit in 0..<payload.count * 8 {
            let mask = UInt8(0x80) >> (bit & 7)
            payload[bit >> 3] ^= mask
            let rewritten = NALUnit(type: nalUnit.type, referenceIDC: nalUnit.referenceIDC, rawPayload: payload)
            if (try? SequenceParameterSet(parsing: rewritten)) == wanted { return rewritten }
            payload[bit >> 3] ^= mask
        }
        return nil
    }
}
