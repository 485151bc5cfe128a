import H264
import MediaCore
import NIOCore
import Testing

@testable import VideoCoding

@Suite("A slice inspector")
struct SliceInspectorTests {
    @Test("gives the same result as the full parser", arguments: backEnds, H264Profile.allCases)
    func parser(backEnd: EncoderBackEnd, profile: H264Profile) throws {
        let encoder = try TestEncoder(backEnd, smallPicture, profile: profile) {
            $0.sliceMaxBytes = DataSize(bytes: 500)
            $0.preset = .quality
        }
        let frames = try encoder.encode(0..<10, of: MovingPattern(smallPicture))
        let format = frames[0].sample.format
        let inspector = try #require(SliceInspector(parameterSets: format.parameterSets))
        var store = ParameterSetStore()
        for set in format.parameterSets.compactMap(NALUnit.init) { try store.insert(set) }
        for frame in frames {
            let summary = try #require(inspector.inspect(frame.sample.data.contiguous()))
            let header = try SliceHeader(parsing: try #require(try frame.nalUnits.first), parameterSets: store)
            #expect(summary.frameNumber == Int(header.frameNumber))
            #expect(summary.keyframeID == header.idrPictureID)
            #expect(summary.isReference == (header.referenceIDC > 0))
            #expect((summary.type == .idr) == (header.kind == .intra))
            #expect((summary.type == .p) == (header.kind == .predictive))
            #expect((0...51).contains(try #require(summary.qp)))
        }
    }

    @Test("survives data that is not a frame")
    func hostile() throws {
        let frame = try makeStream(.openH264, smallPicture, frames: 2)[1]
        let inspector = try #require(SliceInspector(parameterSets: frame.sample.format.parameterSets))
        let bytes = Array(frame.sample.data.contiguous().readableBytesView)
        var generator = SeededGenerator(seed: 5)
        for _ in 0..<5000 {
            var mutated = Array(bytes.prefix(Int(generator.next() % 40)))
            for _ in 0..<3 where !mutated.isEmpty {
                mutated[Int(generator.next() % UInt64(mutated.count))] = UInt8(truncatingIfNeeded: generator.next())
            }
            if mutated.count > 4 {
                mutated.replaceSubrange(0..<4, with: [0, 0, 0, UInt8(mutated.count - 4)])
            }
            _ = inspector.inspect(ByteBuffer(bytes: mutated))
        }
        #expect(inspector.inspect(ByteBuffer(bytes: bytes))?.type == .p)
        #expect(inspector.inspect(ByteBuffer()) == nil)
        #expect(SliceInspector(parameterSets: []) == nil)
    }
}
