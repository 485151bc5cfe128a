import MediaCore

/// Makes BGRA of YCbCr by the formulas of H.273 8.3, in 16.16 fixed point, for any matrix and range.
struct BGRAWriter {
    private let black: Int32
    private let luma: Int32
    /// The weight of U in blue and green, and of V in green and red.
    private let blueOfU: Int32
    private let greenOfU: Int32
    private let greenOfV: Int32
    private let redOfV: Int32

    init(_ encoding: ColourEncoding) {
        func fixed(_ value: Double) -> Int32 { Int32((value * 65536).rounded()) }
        let (red, blue) = encoding.lumaWeights
        let green = 1 - red - blue
        let chromaScale = encoding.isFullRange ? 1 : 255.0 / 224
        black = encoding.isFullRange ? 0 : 16
        luma = fixed(encoding.isFullRange ? 1 : 255.0 / 219)
        blueOfU = fixed(2 * (1 - blue) * chromaScale)
        greenOfU = fixed(-2 * (1 - blue) * blue / green * chromaScale)
        greenOfV = fixed(-2 * (1 - red) * red / green * chromaScale)
        redOfV = fixed(2 * (1 - red) * chromaScale)
    }

    /// Writes the colours of an I420 or NV12 picture, opaque, into a BGRA picture of its size. Two by two samples have
    /// the same chroma.
    func write(_ source: PictureView, to destination: PictureView) {
        let isInterleaved = source.format == .nv12
        let u = source.bytes(1)
        let v = isInterleaved ? u + 1 : source.bytes(2)
        let strideU = Int(source.stride(1))
        let strideV = isInterleaved ? strideU : Int(source.stride(2))
        for row in 0..<source.dimensions.height {
            writeRow(
                source.bytes(0) + row * Int(source.stride(0)), u + row / 2 * strideU, v + row / 2 * strideV,
                step: isInterleaved ? 2 : 1, to: destination.bytes(0) + row * Int(destination.stride(0)),
                count: source.dimensions.width)
        }
    }

    private func writeRow(
        _ y: UnsafePointer<UInt8>, _ u: UnsafePointer<UInt8>, _ v: UnsafePointer<UInt8>, step: Int,
        to destination: UnsafeMutablePointer<UInt8>, count: Int
    ) {
        @inline(__always)
        func level(_ value: Int32) -> UInt8 { UInt8(truncatingIfNeeded: max(0, min(255, value >> 16))) }
        for x in 0..<count {
            let column = x / 2 * step
            let (u, v) = (Int32(u[column]) &- 128, Int32(v[column]) &- 128)
            let light = (Int32(y[x]) &- black) &* luma &+ 32768
            let sample = destination + 4 * x
            sample[0] = level(light &+ blueOfU &* u)
            sample[1] = level(light &+ greenOfU &* u &+ greenOfV &* v)
            sample[2] = level(light &+ redOfV &* v)
            sample[3] = 255
        }
    }
}
