import MediaCore

extension PixelBuffer {
    /// Copies a part of an I420 picture, whose edges are even and inside the picture.
    func part(_ rect: PixelRect) -> MutablePixelBuffer {
        var part = MutablePixelBuffer(format: .i420, dimensions: rect.dimensions)
        for plane in 0..<3 {
            let shift = plane == 0 ? 0 : 1
            let (rowBytes, rows) = (rect.width >> shift, rect.height >> shift)
            withPlane(plane) { source, sourceStride in
                part.withMutablePlane(plane) { target, stride in
                    for row in 0..<rows {
                        let start = ((rect.y >> shift) + row) * sourceStride + (rect.x >> shift)
                        UnsafeMutableRawBufferPointer(rebasing: target[(row * stride)...].prefix(rowBytes))
                            .copyMemory(from: UnsafeRawBufferPointer(rebasing: source[start...].prefix(rowBytes)))
                    }
                }
            }
        }
        return part
    }
}
