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

    // A process of its own: in this one, other tests have freed blocks that a new one would fill.
    @Test("is returned at once in large blocks, also after larger ones were freed")
    func largeBlocks() async {
        await #expect(processExitsWith: .success) {
            ProcessMemory.returnAtOnce()
            #expect(isMapped(bytes: 24 << 20))
            #expect(isMapped(bytes: 256 << 10))
        }
    }

    @Test("is measured in the C library's heap, which is never full to the last byte")
    func measure() {
        #expect(ProcessMemory.free > .zero)
    }
}

/// Whether the C library gives a new block of this size a mapping of its own.
private func isMapped(bytes: Int) -> Bool {
    guard let block = malloc(bytes) else { return false }
    defer { free(block) }
    // The C library's word in front of the block says so.
    return block.load(fromByteOffset: -MemoryLayout<UInt>.size, as: UInt.self) & 2 != 0
}
