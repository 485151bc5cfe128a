package import MediaCore

/// Pictures that are hard to encode.
package enum Texture {
    /// A gradient with grain that does not repeat within a second: as many bits as the encoder may spend, and few when
    /// it must.
    package static let pictures = makePictures(grain: 0x1f)
    /// The same with a grain so coarse that the encoder cannot do away with it.
    package static let coarsePictures = makePictures(grain: 0x3f)

    private static func makePictures(grain: UInt64) -> [PixelBuffer] {
        let mask = grain &* 0x0101_0101_0101_0101
        var random = SeededGenerator(seed: 5)
        let dimensions = VideoDimensions(width: 320, height: 180)
        return (0..<15).map { _ in
            var buffer = MutablePixelBuffer(format: .i420, dimensions: dimensions)
            for plane in 0..<3 {
                buffer.withMutablePlane(plane) { bytes, stride in
                    for offset in eights(in: bytes.count) {
                        let level = UInt64(64 + offset / stride / 2) &* 0x0101_0101_0101_0101
                        bytes.storeBytes(
                            of: level &+ (random.next() & mask), toByteOffset: offset, as: UInt64.self)
                    }
                }
            }
            return buffer.freeze()
        }
    }

    /// Offsets of whole eight bytes.
    private static func eights(in count: Int) -> StrideTo<Int> { stride(from: 0, to: count - 7, by: 8) }
}
