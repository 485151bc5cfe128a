import MediaCore
import NIOCore
import Testing

@testable import H264

@Suite struct NALUnitTests {
    @Test func `the header tells type, importance and the forbidden bit`() throws {
        let unit = try #require(NALUnit(ByteBuffer(bytes: [0x65, 0x88])))
        #expect(unit.type == .codedSliceIDR)
        #expect(unit.referenceIDC == 3)
        #expect(!unit.forbiddenZeroBit)
        #expect(unit.isVCL)
        #expect(NALUnit(ByteBuffer(bytes: [0x86]))?.forbiddenZeroBit == true)
    }

    @Test func `no bytes are no NAL unit`() {
        #expect(NALUnit(ByteBuffer()) == nil)
    }

    @Test func `every number of five bits is a type`() {
        #expect((0..<32).allSatisfy { NALUnitType(rawValue: $0) != nil })
        #expect(NALUnitType.allCases.count == 32)
    }

    @Test func `types have the numbers of table 7-1 and of RFC 6184`() {
        let types: [NALUnitType] = [
            .unspecified, .codedSliceNonIDR, .dataPartitionA, .dataPartitionB, .dataPartitionC, .codedSliceIDR, .sei,
            .sequenceParameterSet, .pictureParameterSet, .accessUnitDelimiter, .endOfSequence, .endOfStream,
            .fillerData, .sequenceParameterSetExtension, .prefix, .subsetSequenceParameterSet, .depthParameterSet,
            .reserved17, .reserved18, .auxiliaryCodedSlice, .codedSliceExtension, .codedSliceDepthExtension,
            .reserved22, .reserved23, .aggregationSTAPA, .aggregationSTAPB, .aggregationMTAP16, .aggregationMTAP24,
            .fragmentationFUA, .fragmentationFUB, .unspecified30, .unspecified31,
        ]
        #expect(types.map(\.rawValue) == Array(0..<32))
        #expect(types.filter(\.isUnspecified).map(\.rawValue) == [0] + Array(24..<32))
    }

    @Test func `slices are VCL and parameter sets are not`() {
        #expect(NALUnitType.allCases.filter(\.isVCL).map(\.rawValue) == [1, 2, 3, 4, 5, 19])
    }

    @Test(
        arguments: [
            ([0, 0, 0], [0, 0, 3, 0, 3]), ([0, 0, 1], [0, 0, 3, 1]), ([0, 0, 2], [0, 0, 3, 2]),
            ([0, 0, 3], [0, 0, 3, 3]), ([0, 0, 4], [0, 0, 4]), ([0, 0, 0, 0, 1], [0, 0, 3, 0, 0, 3, 1]), ([], []),
            ([7, 0, 0], [7, 0, 0, 3]), ([0], [0, 3]),
        ] as [([UInt8], [UInt8])])
    func `start codes are not emulated`(raw: [UInt8], escaped: [UInt8]) {
        #expect(NALUnit(type: .sei, referenceIDC: 0, rawPayload: raw).array == [6] + escaped)
    }

    @Test func `the raw payload survives emulation prevention`() {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<3000 {
            let raw = generator.smallBytes(Int.random(in: 0...40, using: &generator)) + [0x80]
            let unit = NALUnit(type: .codedSliceIDR, referenceIDC: 2, rawPayload: raw)
            #expect(unit.rawPayload() == raw)
            let escaped = unit.array
            for index in escaped.indices.dropLast(2) where escaped[index] == 0 && escaped[index + 1] == 0 {
                #expect(escaped[index + 2] >= 3)
            }
        }
    }

    @Test func `zero words behind the stop bit survive emulation prevention`() {
        let raw: [UInt8] = [0x80, 0, 0, 0, 0]
        let unit = NALUnit(type: .codedSliceIDR, referenceIDC: 2, rawPayload: raw)
        #expect(unit.array == [0x45, 0x80, 0, 0, 3, 0, 0, 3])
        #expect(unit.rawPayload() == raw)
    }

    @Test func `a source limit bounds how much of a slice is unescaped`() {
        let unit = NALUnit(type: .codedSliceIDR, referenceIDC: 2, rawPayload: [1, 2, 3, 4, 5])
        #expect(unit.rawPayload(sourceLimit: 2) == [1, 2])
    }
}
