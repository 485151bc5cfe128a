import MediaCore

extension PixelBuffer {
    /// A grey texture that moves a little from frame to frame, so that there is something to encode.
    static func texture(_ dimensions: VideoDimensions, phase: Int) -> PixelBuffer {
        var buffer = MutablePixelBuffer(format: .i420, dimensions: dimensions)
        buffer.withMutablePlane(0) { bytes, stride in
            for row in 0..<dimensions.height {
                for column in 0..<dimensions.width {
                    let isBright = ((column + phase * 3) / 8 + row / 8) % 2 == 0
                    bytes[row * stride + column] = isBright ? 88 : 82
                }
            }
        }
        for plane in 1...2 {
            buffer.withMutablePlane(plane) { bytes, _ in
                for index in bytes.indices { bytes[index] = 128 }
            }
        }
        return buffer.freeze()
    }
}
