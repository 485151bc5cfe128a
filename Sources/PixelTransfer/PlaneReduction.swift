import CLibYUV
import MediaCore

/// Scales planes to between a half and all of their size, sample for sample as libyuv's bilinear filter does. That
/// takes twelve instructions to blend a sample of two in a row, and this takes two.
struct PlaneReduction {
    private let source: VideoDimensions
    private let dimensions: VideoDimensions

    /// Nil where libyuv has to scale: from and to other sizes, and on processors other than x86's with SSSE3.
    init?(from source: VideoDimensions, to dimensions: VideoDimensions) {
        func isReduced(_ size: Int, from source: Int) -> Bool { size < source && 2 * size > source }
        // For three quarters libyuv has a filter of its own, and for wider planes more exact positions.
        guard Self.isAvailable, source.width <= Int16.max, source.height <= Int16.max,
            isReduced(dimensions.width, from: source.width), isReduced(dimensions.height, from: source.height),
            4 * dimensions.width != 3 * source.width || 4 * dimensions.height != 3 * source.height
        else { return nil }
        (self.source, self.dimensions) = (source, dimensions)
    }

    /// The distance of samples in the source, in 65536ths.
    private var step: (x: Int, y: Int) {
        ((source.width << 16) / dimensions.width, (source.height << 16) / dimensions.height)
    }

    /// Calls `body` with each row of the result and the row of the source above it, the part of the next row in 256ths,
    /// and that next row.
    private func forEachRow(
        _ samples: UnsafePointer<UInt8>, _ stride: Int,
        _ body: (_ row: Int, _ upper: UnsafePointer<UInt8>, _ lower: UnsafePointer<UInt8>, _ share: Int32) -> Void
    ) {
        for row in 0..<dimensions.height {
            // Samples are in the middle of their places. The last row has none below it.
            let position = min(step.y / 2 - 32768 + row * step.y, (source.height - 1) << 16)
            let index = position >> 16
            let upper = samples + index * stride
            body(row, upper, index < source.height - 1 ? upper + stride : upper, Int32(position >> 8 & 255))
        }
    }
}

#if arch(x86_64)
    extension PlaneReduction {
        private static var isAvailable: Bool { TestCpuFlag(Int32(kCpuHasSSSE3)) != 0 }

        func scale(
            _ samples: UnsafePointer<UInt8>, _ stride: Int, to target: UnsafeMutablePointer<UInt8>, _ targetStride: Int
        ) {
            let (sourceWidth, width) = (Int32(source.width), Int32(dimensions.width))
            let count = (dimensions.width + 7) / 8
            let blendSize = count * MemoryLayout<yuv_shim_blends>.stride
            let rowSize = source.width + Int(yuv_shim_blends_margin)
            withUnsafeTemporaryAllocation(
                byteCount: blendSize + rowSize, alignment: MemoryLayout<yuv_shim_blends>.alignment
            ) { memory in
                guard let base = memory.baseAddress else { return }
                let blends = base.bindMemory(to: yuv_shim_blends.self, capacity: count)
                let between = (base + blendSize).bindMemory(to: UInt8.self, capacity: rowSize)
                yuv_shim_set_blends(blends, Int32(count), Int32(step.x))
                forEachRow(samples, stride) { row, upper, lower, share in
                    InterpolatePlane(upper, 0, lower, 0, between, 0, sourceWidth, 1, share)
                    yuv_shim_blend(between, blends, target + row * targetStride, width)
                }
            }
        }
    }
#else
    extension PlaneReduction {
        private static var isAvailable: Bool { false }

        func scale(
            _ samples: UnsafePointer<UInt8>, _ stride: Int, to target: UnsafeMutablePointer<UInt8>, _ targetStride: Int
        ) {}
    }
#endif
