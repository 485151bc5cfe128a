import Glibc
import MediaCore
import Testing

@testable import RoomMedia

@Suite("Memory of rooms that ended")
struct ProcessMemoryTests {
    @Test("is returned soon after the first, and seldom where many end")
    func schedule() {
        var memory = ProcessMemory()
        let start = MonotonicInstant(nanoseconds: 1_000_000_000)
        #expect(memory.roomEnded(now: start) == .seconds(2))
        #expect(memory.roomEnded(now: start) == nil)
        // At two seconds memory was returned, and not again within twenty.
        #expect(memory.roomEnded(now: start + .seconds(7)) == .seconds(15))
        #expect(memory.roomEnded(now: start + .seconds(12)) == nil)
        #expect(memory.roomEnded(now: start + .seconds(100)) == .seconds(2))
    }

    @Test("is returned again where a room ends too soon before a return to have released its buffers")
    func lateRoom() {
        var memory = ProcessMemory()
        let start = MonotonicInstant(nanoseconds: 1_000_000_000)
        #expect(memory.roomEnded(now: start) == .seconds(2))
        #expect(memory.roomEnded(now: start + .seconds(1)) == .seconds(21))
        #expect(memory.roomEnded(now: start + .seconds(20)) == nil)
        #expect(memory.roomEnded(now: start + .seconds(21)) == .seconds(21))
    }

    @Test("is returned at once in large blocks, also after larger ones were freed")
    func largeBlocks() throws {
        ProcessMemory.returnAtOnce()
        var blocks: [UnsafeMutableRawPointer] = []
        defer { for block in blocks { free(block) } }
        // The word of the C library in front of a block says whether the block is a mapping of its own. The first ones
        // may fill what others have freed.
        func areMapped(_ count: Int, bytes: Int) throws -> Bool {
            for _ in 0..<count {
                let block = try #require(malloc(bytes))
                blocks.append(block)
                if block.load(fromByteOffset: -MemoryLayout<UInt>.size, as: UInt.self) & 2 != 0 { return true }
            }
            return false
        }
        free(malloc(24 << 20))
        #expect(try areMapped(4000, bytes: 256 << 10))
    }

    @Test("is measured in the C library's heap, which is never full to the last byte")
    func measure() {
        #expect(ProcessMemory.free > .zero)
    }
}
