package import MediaCore

/// Pictures similar to those of a camera in a call: a detailed background, and a detailed object that moves in front of
/// it.
package enum Scenery {
    package static let dimensions = VideoDimensions(width: 320, height: 180)
    /// Two seconds at 15 pictures a second, without end.
    package static let pictures = (0..<30).map(picture)

    private static let texture: [UInt8] = {
        var random = SeededGenerator(seed: 9)
        return (0..<(512 * 512)).map { _ in UInt8.random(in: 0...70, using: &random) }
    }()

    private static func picture(_ number: Int) -> PixelBuffer {
        var buffer = MutablePixelBuffer(format: .i420, dimensions: dimensions)
        let size = 90
        // There and back.
        let left = 20 + 12 * min(number, 30 - number)
        for plane in 0..<3 {
            let (width, height) = PixelFormat.i420.planeSize(plane, of: dimensions)
            let divisor = plane == 0 ? 1 : 2
            buffer.withMutablePlane(plane) { bytes, stride in
                for y in 0..<height {
                    for x in 0..<width {
                        let isInFront = (left / divisor..<(left + size) / divisor).contains(x) && y > height / 3
                        // Grain of two by two samples, which moves with its object.
                        let column = ((isInFront ? x - left / divisor + 300 : x) / 2) & 511
                        let grain = texture[(y / 2 * 512 + column) & 0x3FFFF]
                        bytes[y * stride + x] = (plane == 0 ? 80 : 110) + (plane == 0 ? grain : grain / 4)
                    }
                }
            }
        }
        return buffer.freeze()
    }
}
