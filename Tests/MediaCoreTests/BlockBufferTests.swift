import MediaCore
import NIOCore
import Testing

@Suite("A block buffer")
struct BlockBufferTests {
    private func make(_ blocks: [UInt8]...) -> BlockBuffer {
        var buffer = BlockBuffer()
        for block in blocks { buffer.append(ByteBuffer(bytes: block)) }
        return buffer
    }

    private func bytes(_ buffer: BlockBuffer) -> [UInt8] { Array(buffer.contiguous().readableBytesView) }

    @Test("joins its blocks in order, and leaves empty ones out")
    func joining() {
        let buffer = make([], [1, 2], [], [3], [4, 5, 6])
        #expect(buffer.count == 6)
        #expect(buffer.blocks.count == 3)
        #expect(!buffer.isContiguous)
        #expect(bytes(buffer) == [1, 2, 3, 4, 5, 6])
    }

    @Test("refers to a single block without a copy")
    func noCopy() {
        let block = ByteBuffer(bytes: [1, 2, 3])
        let address = block.withUnsafeReadableBytes { $0.baseAddress }
        #expect(BlockBuffer(block).contiguous().withUnsafeReadableBytes { $0.baseAddress } == address)
    }

    @Test("gives out every slice, and nothing beyond its bounds")
    func slices() throws {
        let buffer = make([0, 1], [2], [3, 4, 5])
        for start in 0...6 {
            for end in start...6 {
                let slice = try #require(buffer.slice(start..<end))
                #expect(bytes(slice) == (start..<end).map(UInt8.init))
            }
        }
        #expect(buffer.slice(0..<7) == nil)
        #expect(buffer.slice(-1..<2) == nil)
    }

    @Test("is equal to one of the same bytes in other blocks")
    func equality() {
        #expect(make([1, 2], [3]) == make([1], [2, 3]))
        #expect(make([1, 2], [3]) != make([1, 2], [4]))
        #expect(make() == make([]))
    }

    @Test("copies no more than there is room for")
    func copying() {
        let buffer = make([1, 2], [3, 4])
        for room in 0...6 {
            var target = [UInt8](repeating: 9, count: room)
            target.withUnsafeMutableBytes { buffer.copyBytes(into: $0) }
            #expect(target == Array([1, 2, 3, 4, 9, 9].prefix(room)))
        }
    }

    @Test("appends another buffer's blocks")
    func appending() {
        var buffer = make([1])
        buffer.append(make([2], [3, 4]))
        #expect(bytes(buffer) == [1, 2, 3, 4])
    }
}
