import MediaCore

/// Makes YCbCr of BGRA by the formulas of H.273 8.3, in 16.16 fixed point, for any matrix and range.
struct YCbCrWriter {
    private struct Weights {
        var red: Int32
        var green: Int32
        var blue: Int32

        /// Weights that sum up to exactly `sum`, so that greys come out exactly.
        init(red: Double, blue: Double, sum: Double) {
            self.red = Self.fixed(red)
            self.blue = Self.fixed(blue)
            green = Self.fixed(sum) - self.red - self.blue
        }

        private static func fixed(_ value: Double) -> Int32 { Int32((value * 65536).rounded()) }

        @inline(__always)
        func sum(_ red: Int32, _ green: Int32, _ blue: Int32) -> Int32 {
            self.red &* red &+ self.green &* green &+ self.blue &* blue
        }
    }

    private let luma: Weights
    private let blueDifference: Weights
    private let redDifference: Weights
    private let black: Int32

    init(_ encoding: ColourEncoding) {
        let (red, blue) = encoding.lumaWeights
        let lumaScale = encoding.isFullRange ? 1 : 219.0 / 255
        let chromaScale = encoding.isFullRange ? 1 : 224.0 / 255
        luma = Weights(red: red * lumaScale, blue: blue * lumaScale, sum: lumaScale)
        blueDifference = Weights(
            red: -red / (2 * (1 - blue)) * chromaScale, blue: 0.5 * chromaScale, sum: 0)
        redDifference = Weights(
            red: 0.5 * chromaScale, blue: -blue / (2 * (1 - red)) * chromaScale, sum: 0)
        black = encoding.isFullRange ? 0 : 16
    }

    /// Writes the colours of a BGRA picture into an I420 or NV12 picture of its size. Chroma is of the mean colour of
    /// up to four samples.
    func write(_ source: PictureView, to destination: PictureView) {
        let isInterleaved = destination.format == .nv12
        let (sourceStride, lumaStride) = (Int(source.stride(0)), Int(destination.stride(0)))
        let u = destination.bytes(1)
        let v = isInterleaved ? u + 1 : destination.bytes(2)
        let strideU = Int(destination.stride(1))
        let strideV = isInterleaved ? strideU : Int(destination.stride(2))
        let step = isInterleaved ? 2 : 1
        let (width, height) = (source.dimensions.width, source.dimensions.height)
        for row in 0..<height {
            writeLuma(source.bytes(0) + row * sourceStride, to: destination.bytes(0) + row * lumaStride, count: width)
        }
        for row in stride(from: 0, to: height, by: 2) {
            let top = source.bytes(0) + row * sourceStride
            writeChroma(
                top, row + 1 < height ? top + sourceStride : top, count: width,
                to: u + row / 2 * strideU, v + row / 2 * strideV, step: step)
        }
    }

    private func writeLuma(
        _ source: UnsafePointer<UInt8>, to destination: UnsafeMutablePointer<UInt8>, count: Int
    ) {
        let offset = black << 16 + 32768
        for x in 0..<count {
            let sample = source + 4 * x
            let sum = luma.sum(Int32(sample[2]), Int32(sample[1]), Int32(sample[0]))
            destination[x] = UInt8(truncatingIfNeeded: (sum &+ offset) >> 16)
        }
    }

    private func writeChroma(
        _ top: UnsafePointer<UInt8>, _ bottom: UnsafePointer<UInt8>, count: Int,
        to u: UnsafeMutablePointer<UInt8>, _ v: UnsafeMutablePointer<UInt8>, step: Int
    ) {
        @inline(__always)
        func sample(_ red: Int32, _ green: Int32, _ blue: Int32, _ weights: Weights) -> UInt8 {
            // The sums are of four samples. Full range reaches 255.5, which does not fit.
            let value = (weights.sum(red, green, blue) &+ (128 << 18 + 1 << 17)) >> 18
            return UInt8(truncatingIfNeeded: min(value, 255))
        }
        for column in 0..<((count + 1) / 2) {
            let left = 8 * column
            let right = 2 * column + 1 < count ? left + 4 : left
            @inline(__always)
            func sum(_ channel: Int) -> Int32 {
                Int32(top[left + channel]) &+ Int32(top[right + channel])
                    &+ Int32(bottom[left + channel]) &+ Int32(bottom[right + channel])
            }
            let (blue, green, red) = (sum(0), sum(1), sum(2))
            u[column * step] = sample(red, green, blue, blueDifference)
            v[column * step] = sample(red, green, blue, redDifference)
        }
    }
}
