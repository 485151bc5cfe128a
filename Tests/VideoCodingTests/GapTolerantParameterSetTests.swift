import H264
import MediaCore
import NIOCore
import Testing

@testable import VideoCoding

@Suite("An SPS that is rewritten to allow left-out frames")
struct GapTolerantParameterSetTests {
    /// An SPS of an encoder of ours.
    private func parameterSet(_ dimensions: VideoDimensions, layers: Int) throws -> NALUnit {
        let encoder = try TestEncoder(.openH264, dimensions, bitRate: .megabits(1), profile: .constrainedBaseline) {
            $0.temporalLayers = layers
        }
        let frame = try #require(try encoder.encode(MovingPattern(dimensions).picture(0), 0))
        return try #require(
            frame.sample.format.parameterSets.compactMap(NALUnit.init).first { $0.type == .sequenceParameterSet })
    }

    @Test(
        "reports that and nothing else",
        arguments: [(64, 64), (320, 180), (640, 360), (960, 540), (1280, 720)].map {
            VideoDimensions(width: $0.0, height: $0.1)
        })
    func rewritten(dimensions: VideoDimensions) throws {
        let original = try parameterSet(dimensions, layers: 1)
        var expected = try SequenceParameterSet(parsing: original)
        #expect(!expected.allowsFrameNumberGaps)
        expected.allowsFrameNumberGaps = true
        let rewritten = try #require(GapTolerantParameterSet.rewrite(original))
        #expect(try SequenceParameterSet(parsing: rewritten) == expected)
        #expect(rewritten.count == original.count)
    }

    @Test("is left alone where it says so, or is none")
    func untouched() throws {
        let set = try parameterSet(VideoDimensions(width: 320, height: 180), layers: 3)
        #expect(try SequenceParameterSet(parsing: set).allowsFrameNumberGaps)
        #expect(GapTolerantParameterSet.rewrite(set) == nil)
        let garbage = try #require(NALUnit(ByteBuffer(bytes: [0x67, 1, 2, 3])))
        #expect(GapTolerantParameterSet.rewrite(garbage) == nil)
    }
}
