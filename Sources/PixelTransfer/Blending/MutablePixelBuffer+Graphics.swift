import CLibYUV
public import MediaCore

extension MutablePixelBuffer {
    /// Takes what was drawn twice, on black and on white, as BGRA whose colours are multiplied by their alpha: where
    /// nothing was drawn the two differ most, and where it hides all they are the same.
    ///
    /// Both regions have this picture's size.
    public mutating func takeGraphics(onBlack black: I420Region, onWhite white: I420Region) {
        precondition(format == .bgra, "a picture with alpha")
        precondition(black.dimensions == dimensions && white.dimensions == dimensions, "drawings of its size")
        let (width, height) = (dimensions.width, dimensions.height)
        withMutablePlane(0) { bytes, stride in
            guard let base = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
            I420ToARGB(
                black.y, Int32(black.lumaStride), black.u, Int32(black.chromaStrides.u), black.v,
                Int32(black.chromaStrides.v), base, Int32(stride), Int32(width), Int32(height))
            let span = Int(YCbCrColour.white.y) - Int(YCbCrColour.black.y)
            for row in 0..<height {
                var pixel = base + row * stride
                let (dark, light) = (black.y + row * black.lumaStride, white.y + row * white.lumaStride)
                for column in 0..<width {
                    let seenThrough = min(max(Int(light[column]) - Int(dark[column]), 0), span)
                    let alpha = UInt8(255 - (seenThrough * 255 + span / 2) / span)
                    // Chroma samples reach over the edges of the drawing.
                    for channel in 0..<3 { pixel[channel] = min(pixel[channel], alpha) }
                    pixel[3] = alpha
                    pixel += 4
                }
            }
        }
    }
}
