import H264
import H264Fixtures
import MediaCore
import NIOCore
import Testing

@testable import VideoCoding

@Suite("An SPS that is rewritten to exclude reordering")
struct LowDelayParameterSetTests {
    /// An SPS of 160x96 samples, Constrained Baseline, with `vui` behind `vui_parameters_present_flag`.
    private func parameterSet(vui: [(value: UInt32, bits: Int)]) -> NALUnit? {
        var bits = TestBits()
        for byte: UInt32 in [66, 0xC0, 30] { bits.append(byte, count: 8) }
        for value: UInt32 in [0, 0, 0, 0, 1] { bits.append(golomb: value) }
        bits.append(0, count: 1)
        bits.append(golomb: 9)
        bits.append(golomb: 5)
        for flag: UInt32 in [1, 1, 0] { bits.append(flag, count: 1) }
        bits.append(vui.isEmpty ? 0 : 1, count: 1)
        for (value, count) in vui { bits.append(value, count: count) }
        bits.append(1, count: 1)
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
        let vui: [(UInt32, Int)] = [(0, 4), (1, 1), (1, 32), (60, 32), (1, 1), (0, 2), (0, 1), (0, 1)]
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
