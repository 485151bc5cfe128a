import MediaCore
import Synchronization
import Testing

/// Fills every byte of every plane.
private func fill(_ buffer: inout MutablePixelBuffer, with value: UInt8) {
    for index in 0..<buffer.format.planeCount {
        buffer.withMutablePlane(index) { bytes, _ in
            for offset in bytes.indices { bytes[offset] = value }
        }
    }
}

private func address(_ picture: PixelBuffer) -> UInt {
    picture.withPlane(0) { bytes, _ in UInt(bitPattern: bytes.baseAddress) }
}

private func isFilled(_ picture: PixelBuffer, with value: UInt8) -> Bool {
    (0..<picture.planeCount).allSatisfy { index in
        picture.withPlane(index) { bytes, _ in bytes.allSatisfy { $0 == value } }
    }
}

@Suite struct PixelFormatTests {
    @Test func `chroma planes round up`() {
        let odd = VideoDimensions(width: 5, height: 3)
        #expect(PixelFormat.i420.planeSize(0, of: odd) == (5, 3))
        #expect(PixelFormat.i420.planeSize(1, of: odd) == (3, 2))
        #expect(PixelFormat.i420.planeSize(2, of: odd) == (3, 2))
        #expect(PixelFormat.nv12.planeSize(1, of: odd) == (6, 2))
        #expect(PixelFormat.bgra.planeSize(0, of: odd) == (20, 3))
    }

    @Test func `each format has its planes`() {
        #expect([PixelFormat.i420, .nv12, .bgra].map(\.planeCount) == [3, 2, 1])
    }

    @Test func `dimensions have an area and a description`() {
        let dimensions = VideoDimensions(width: 1280, height: 720)
        #expect(dimensions.area == 921_600)
        #expect(dimensions.description == "1280x720")
    }
}

@Suite struct PixelBufferTests {
    @Test(arguments: [PixelFormat.i420, .nv12, .bgra]) func `rows are aligned and large enough`(format: PixelFormat) {
        let dimensions = VideoDimensions(width: 37, height: 21)
        let picture = MutablePixelBuffer(format: format, dimensions: dimensions).freeze()
        #expect(picture.format == format)
        #expect(picture.dimensions == dimensions)
        #expect(picture.planeCount == format.planeCount)
        for index in 0..<format.planeCount {
            let (rowBytes, rows) = format.planeSize(index, of: dimensions)
            picture.withPlane(index) { bytes, stride in
                #expect(stride >= rowBytes && stride % 64 == 0)
                #expect(bytes.count == stride * rows)
                #expect(UInt(bitPattern: bytes.baseAddress) % 64 == 0)
            }
        }
    }

    @Test func `what was written is there after freezing, in the same memory`() {
        var buffer = MutablePixelBuffer(format: .i420, dimensions: VideoDimensions(width: 16, height: 16))
        fill(&buffer, with: 9)
        let written = buffer.withMutablePlane(0) { bytes, _ in UInt(bitPattern: bytes.baseAddress) }
        let picture = buffer.freeze()
        #expect(isFilled(picture, with: 9))
        #expect(address(picture) == written)
    }

    @Test func `a copy is the same picture and another buffer is not`() {
        let dimensions = VideoDimensions(width: 16, height: 16)
        let picture = MutablePixelBuffer(format: .i420, dimensions: dimensions).freeze()
        let copy = picture
        #expect(copy === picture)
        #expect(!(picture === MutablePixelBuffer(format: .i420, dimensions: dimensions).freeze()))
    }

    @Test func `wrapped memory is released once, after the last holder`() {
        let memory = UnsafeMutableRawPointer.allocate(byteCount: 64 * 4, alignment: 64)
        defer { memory.deallocate() }
        memory.initializeMemory(as: UInt8.self, repeating: 7, count: 64 * 4)
        let counter = ReleaseCounter()
        var pictures = [
            PixelBuffer(
                wrapping: [PixelBufferPlane(base: memory, stride: 64, rows: 4)], format: .bgra,
                dimensions: VideoDimensions(width: 16, height: 4), release: { counter.count() })
        ]
        pictures.append(pictures[0])
        #expect(isFilled(pictures[0], with: 7))
        pictures.removeFirst()
        #expect(counter.value == 0)
        pictures.removeAll()
        #expect(counter.value == 1)
    }

    @Test func `an error within a plane's closure is forwarded`() {
        struct Failure: Error {}
        let picture = MutablePixelBuffer(format: .bgra, dimensions: VideoDimensions(width: 1, height: 1)).freeze()
        #expect(throws: Failure.self) { try picture.withPlane(0) { _, _ throws(Failure) in throw Failure() } }
    }
}

private final class ReleaseCounter: Sendable {
    private let releases = Atomic(0)

    func count() { releases.add(1, ordering: .relaxed) }

    var value: Int { releases.load(ordering: .relaxed) }
}
