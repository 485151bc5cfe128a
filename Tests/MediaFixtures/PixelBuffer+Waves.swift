package import MediaCore

extension PixelBuffer {
    /// A smooth picture, another one for each `number` and `tick`.
    package static func waves(
        _ number: Int, tick: Int, dimensions: VideoDimensions, format: PixelFormat, colour: ColourDescription
    ) -> PixelBuffer {
        var picture = MutablePixelBuffer(format: format, dimensions: dimensions)
        picture.attachments.colour = colour
        for plane in 0..<format.planeCount {
            picture.withMutablePlane(plane) { bytes, stride in
                for index in bytes.indices {
                    let (x, y) = (index % stride, index / stride)
                    let wave = abs((x + 7 * number + 3 * tick) % 128 - 64) + abs((2 * y + 5 * tick) % 96 - 48)
                    bytes[index] = UInt8(clamping: 60 + wave + 11 * number % 50 + 20 * plane)
                }
            }
        }
        return picture.freeze()
    }
}
