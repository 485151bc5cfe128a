import MediaCore
import Testing

@Suite("Pixel buffer attributes")
struct PixelBufferAttributesTests {
    private let picture = MutablePixelBuffer(format: .i420, dimensions: VideoDimensions(width: 100, height: 50))
        .freeze()

    @Test("require nothing by default")
    func any() {
        #expect(PixelBufferAttributes.any.isSatisfied(by: picture))
    }

    @Test("accept any of their formats")
    func formats() {
        #expect(PixelBufferAttributes(formats: [.nv12, .i420]).isSatisfied(by: picture))
        #expect(!PixelBufferAttributes(formats: [.nv12, .bgra]).isSatisfied(by: picture))
    }

    @Test("hold a picture to a size")
    func dimensions() {
        #expect(PixelBufferAttributes(dimensions: VideoDimensions(width: 100, height: 50)).isSatisfied(by: picture))
        #expect(!PixelBufferAttributes(dimensions: VideoDimensions(width: 50, height: 100)).isSatisfied(by: picture))
    }

    @Test("look at every plane's alignment")
    func alignment() {
        #expect(PixelBufferAttributes(rowAlignment: 64).isSatisfied(by: picture))
        let memory = UnsafeMutableRawPointer.allocate(byteCount: 1024, alignment: 64)
        let bare = PixelBuffer(
            wrapping: [
                PixelBufferPlane(base: memory, stride: 16, rows: 4),
                PixelBufferPlane(base: memory + 64, stride: 8, rows: 2),
            ], format: .nv12, dimensions: VideoDimensions(width: 8, height: 4), release: {})
        #expect(PixelBufferAttributes(rowAlignment: 8).isSatisfied(by: bare))
        #expect(!PixelBufferAttributes(rowAlignment: 16).isSatisfied(by: bare))
        memory.deallocate()
    }
}
