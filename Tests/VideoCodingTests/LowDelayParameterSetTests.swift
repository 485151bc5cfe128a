import H264
import MediaCore
import NIOCore
import Testing

@testable import VideoCoding

@Suite("An SPS that is rewritten to exclude reordering")
struct LowDelayParameterSetTests {
    /// An SPS of 160x96 samples, Constrained Baseline, with `vui` behind `vui_parameters_present_flag`.
    private func parameterSet(vui: [(value: Int, bits: Int)]) -> NALUnit? {
        var bits = BitWriter()
        for byte in [66, 0xC0, 30] { bits.bits(byte, 8) }
        for value in [0, 0, 0, 0, 1] { bits.unsigned(value) }
        bits.bits(0, 1)
        bits.unsigned(9)
        bits.unsigned(5)
        for flag in [1, 1, 0] { bits.bits(flag, 1) }
        bits.bits(vui.isEmpty ? 0 : 1, 1)
        for (value, count) in vui { bits.bits(value, count) }
        bits.bits(1, 1)
        return NALUnit(type: .sequenceParameterSet, referenceIDC: 3, rawPayload: bits.bytes)
    }

    @Test("gets a VUI where it has none")
    func withoutVUI() throws {
        let original = try #require(parameterSet(vui: []))
        let rewritten = try #require(LowDelayParameterSet.rewrite(original))
        let set = try SequenceParameterSet(parsing: rewritten)
        let restriction = try #require(set.usability?.bitstreamRestriction)
        #expect(restriction.maximumReorderFrames == 0)
        #expect(restriction.maximumDecodedFrameBuffering == 1)
        #expect(set.dimensions == VideoDimensions(width: 160, height: 96))
    }

    @Test("keeps the VUI it has")
    func withVUI() throws {
        // Timing alone: 4 absent fields, timing, 2 absent HRDs, pic_struct, no restriction.
        let vui: [(Int, Int)] = [(0, 4), (1, 1), (1, 32), (60, 32), (1, 1), (0, 2), (0, 1), (0, 1)]
        let original = try #require(parameterSet(vui: vui))
        let rewritten = try #require(LowDelayParameterSet.rewrite(original))
        let set = try SequenceParameterSet(parsing: rewritten)
        #expect(set.usability?.timing?.frameRate == 30)
        #expect(set.usability?.bitstreamRestriction?.maximumReorderFrames == 0)
    }

    @Test("is left alone where it has a restriction, or is none")
    func untouched() throws {
        let original = try #require(parameterSet(vui: []))
        let rewritten = try #require(LowDelayParameterSet.rewrite(original))
        #expect(LowDelayParameterSet.rewrite(rewritten) == nil)
        let garbage = try #require(NALUnit(ByteBuffer(bytes: [0x67, 1, 2, 3])))
        #expect(LowDelayParameterSet.rewrite(garbage) == nil)
    }
}
