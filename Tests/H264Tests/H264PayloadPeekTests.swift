import H264
import MediaCore
import NIOCore
import Testing

/// The facts that RTP payloads show without being reassembled.
@Suite struct H264PayloadPeekTests {
    private func peek(_ bytes: [UInt8]) -> H264PayloadPeek { H264PayloadPeek(ByteBuffer(bytes: bytes)) }

    @Test("a slice says whether it is of an IDR picture, begins it, and is referred to")
    func slices() {
        let key = peek([0x65, 0x88, 0x84])
        #expect(key.isIDR && key.beginsPicture && !key.isDispensable && !key.hasParameterSets)
        let second = peek([0x65, 0x22, 0x84])
        #expect(second.isIDR && !second.beginsPicture)
        #expect(!peek([0x41, 0x9a]).isDispensable)
        #expect(peek([0x01, 0x9a]).isDispensable)
        #expect(!peek([0x06, 0x05]).isDispensable)
    }

    @Test("of a fragmented slice the first fragment begins the picture")
    func fragments() {
        let first = peek([0x7c, 0x85, 0x88])
        #expect(first.isIDR && first.beginsPicture && !first.isDispensable)
        let next = peek([0x7c, 0x05, 0x88])
        #expect(next.isIDR && !next.beginsPicture)
        #expect(peek([0x1c, 0x81, 0x88]).isDispensable)
    }

    @Test("an aggregate is all that is in it")
    func aggregates() {
        let sets = peek([0x78, 0, 2, 0x67, 0x42, 0, 2, 0x68, 0xce])
        #expect(sets.hasParameterSets && !sets.isIDR && !sets.isDispensable)
        let all = peek([0x78, 0, 2, 0x67, 0x42, 0, 2, 0x68, 0xce, 0, 2, 0x65, 0x88])
        #expect(all.hasParameterSets && all.isIDR && all.beginsPicture)
        #expect(!peek([0x78, 0, 2, 0x01, 0x9a, 0, 2, 0x41, 0x9a]).isDispensable)
        #expect(!peek([0x78, 0, 2, 0x41, 0x9a, 0, 2, 0x01, 0x9a]).isDispensable)
    }

    @Test("malformed payloads give no result, and do no harm")
    func broken() {
        for bytes: [UInt8] in [[], [0x7c], [0x78, 0], [0x78, 0xff, 0xff, 0x65], [0xe5, 0x88]] {
            #expect(!peek(bytes).isIDR)
        }
        var random = SeededGenerator(seed: 9)
        for _ in 0..<5000 {
            var bytes: [UInt8] = [0x78, 0, 2, 0x67, 0x42, 0, 2, 0x68, 0xce, 0, 2, 0x65, 0x88]
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0 ... .max, using: &random)
            }
            bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &random)))
            _ = peek(bytes)
            #expect((0...32 * 6).contains(work(bytes)))
        }
    }

    private func work(_ bytes: [UInt8]) -> Int { H264PayloadPeek.work(in: ByteBuffer(bytes: bytes)) }

    @Test("each NAL unit counts as work, also one of a single byte, and a parameter set as much as 32")
    func work() {
        #expect(work([]) == 1 && work([0x41, 0x9a]) == 1 && work([0x7c, 0x85]) == 1 && work([0x7c]) == 1)
        #expect(work([0x67, 0x42]) == 32 && work([0x7c, 0x87]) == 32)
        #expect(work([0x78, 0, 1, 0x06, 0, 1, 0x06, 0, 1, 0x06]) == 3)
        #expect(work([0x78, 0, 2, 0x67, 0x42, 0, 2, 0x68, 0xce, 0, 2, 0x65, 0x88]) == 65)
        #expect(work([0x78, 0xff, 0xff, 0x65]) == 1 && work([0x78, 0, 0, 0, 0]) == 2)
    }
}
