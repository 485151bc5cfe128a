import Synchronization
import Testing

@testable import MediaCore

@Suite("A wrapper of pictures")
struct PixelBufferWrapperTests {
    private let dimensions = VideoDimensions(width: 4, height: 2)

    private func plane(_ memory: UnsafeMutableRawPointer) -> PixelBufferPlanes {
        PixelBufferPlanes(PixelBufferPlane(base: memory, stride: 16, rows: 2))
    }

    @Test("reuses the memory that its pictures share, once nobody holds the last one")
    func reuse() throws {
        let memory = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 16)
        defer { memory.deallocate() }
        var wrapper = PixelBufferWrapper(release: {})
        var first = wrapper.wrap(plane(memory), format: .bgra, dimensions: dimensions)
        let identity = try ObjectIdentifier(#require(first).storage)
        let whileHeld = wrapper.wrap(plane(memory + 32), format: .bgra, dimensions: dimensions)
        #expect(whileHeld == nil)
        var copy = first
        first = nil
        var isFree = wrapper.isFree
        #expect(!isFree)
        #expect(copy != nil)
        copy = nil
        isFree = wrapper.isFree
        #expect(isFree)
        let small = VideoDimensions(width: 2, height: 1)
        let next = wrapper.wrap(plane(memory + 32), format: .bgra, dimensions: small)
        let second = try #require(next)
        #expect(ObjectIdentifier(second.storage) == identity)
        #expect(second.dimensions == small)
        #expect(second.withPlane(0) { bytes, _ in bytes.baseAddress } == UnsafeRawPointer(memory + 32))
    }

    @Test("releases the memory once, when neither it nor a picture is held")
    func release() {
        let memory = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 16)
        defer { memory.deallocate() }
        let counter = ReleaseCounter()
        var wrapper: PixelBufferWrapper? = PixelBufferWrapper(release: { counter.count() })
        var picture = wrapper?.wrap(plane(memory), format: .bgra, dimensions: dimensions)
        wrapper = nil
        #expect(counter.value == 0)
        #expect(picture != nil)
        picture = nil
        #expect(counter.value == 1)
    }

    private final class ReleaseCounter: Sendable {
        private let released = Atomic(0)
        var value: Int { released.load(ordering: .relaxed) }
        func count() { released.add(1, ordering: .relaxed) }
    }
}
