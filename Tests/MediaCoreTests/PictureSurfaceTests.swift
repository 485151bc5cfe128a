import Synchronization
import Testing

@testable import MediaCore

/// A device's memory of one level of luma, which counts how often it is copied.
private final class TestSurface: PictureSurface {
    let luma: UInt8?
    let copies = Atomic(0)

    /// - Parameter luma: Nil: the device does not give the samples.
    init(luma: UInt8?) {
        self.luma = luma
    }

    func copySamples(format: PixelFormat, dimensions: VideoDimensions) -> PixelBuffer? {
        copies.add(1, ordering: .relaxed)
        guard let luma else { return nil }
        var picture = MutablePixelBuffer(format: format, dimensions: dimensions)
        picture.withMutablePlane(0) { bytes, _ in
            for index in bytes.indices { bytes[index] = luma }
        }
        return picture.freeze()
    }
}

@Suite("A picture in a device's memory")
struct PictureSurfaceTests {
    private let dimensions = VideoDimensions(width: 16, height: 8)

    private func luma(_ picture: PixelBuffer) -> UInt8 { picture.withPlane(0) { bytes, _ in bytes[0] } }

    private func picture(_ wrapper: inout PixelBufferWrapper, _ surface: TestSurface) throws -> PixelBuffer {
        let picture = wrapper.wrap(surface, format: .nv12, dimensions: dimensions)
        return try #require(picture)
    }

    @Test("is copied when its planes are looked at, and once")
    func copies() throws {
        let surface = TestSurface(luma: 77)
        var wrapper = PixelBufferWrapper(release: {})
        let picture = try picture(&wrapper, surface)
        #expect(picture.surface === surface && picture.planeCount == 2 && picture.dimensions == dimensions)
        #expect(PixelBufferAttributes(formats: [.nv12]).isSatisfied(by: picture))
        #expect(surface.copies.load(ordering: .relaxed) == 0)
        #expect(luma(picture) == 77)
        #expect(picture.withPlanes { $0.count } == 2)
        #expect(surface.copies.load(ordering: .relaxed) == 1)
    }

    @Test("is grey where the device does not give its samples")
    func grey() throws {
        var wrapper = PixelBufferWrapper(release: {})
        #expect(luma(try picture(&wrapper, TestSurface(luma: nil))) == 128)
    }

    @Test("gives its place to the next one when nobody holds it")
    func next() throws {
        var wrapper = PixelBufferWrapper(release: {})
        var held: PixelBuffer? = try picture(&wrapper, TestSurface(luma: 1))
        let refused = wrapper.wrap(TestSurface(luma: 2), format: .nv12, dimensions: dimensions)
        #expect(refused == nil)
        #expect(held.map(luma) == 1)
        held = nil
        #expect(luma(try picture(&wrapper, TestSurface(luma: 3))) == 3)
    }
}
