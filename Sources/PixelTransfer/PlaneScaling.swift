import CLibYUV
import MediaCore

/// Scales planes to more than half their size, sample for sample as libyuv's bilinear filter does. That takes twelve
/// instructions to blend a sample of two in a row, and this takes two.
struct PlaneScaling {
    private let source: VideoDimensions
    private let dimensions: VideoDimensions
    private let columns: Positions
    private let rows: Positions

    /// Where samples are in the source, in 65536ths.
    private struct Positions {
        let first: Int
        let step: Int

        /// Nil for sizes that libyuv scales to in other ways, and for those where its positions are more exact.
        init?(_ size: Int, from source: Int) {
            guard source > 1, source <= Int16.max, size != source, 2 * size > source else { return nil }
            if size < source {
                // Samples are in the middle of their places.
                step = (source << 16) / size
                first = step / 2 - 32768
            } else {
                // The last sample is just before the source's last one.
                step = (((source - 1) << 16) - 1) / (size - 1)
                first = 0
            }
        }
    }

    /// Nil where libyuv has to scale: from and to other sizes, and on processors other than x86's with SSSE3.
    init?(from source: VideoDimensions, to dimensions: VideoDimensions) {
        // For three quarters and for doubling libyuv has filters of their own.
        guard TestCpuFlag(Int32(kCpuHasSSSE3)) != 0,
            let columns = Positions(dimensions.width, from: source.width),
            let rows = Positions(dimensions.height, from: source.height),
            4 * dimensions.width != 3 * source.width || 4 * dimensions.height != 3 * source.height,
            (dimensions.width + 1) / 2 != source.width || (dimensions.height + 1) / 2 != source.height
        else { return nil }
        (self.source, self.dimensions, self.columns, self.rows) = (source, dimensions, columns, rows)
    }

    func scale(
        _ samples: UnsafePointer<UInt8>, _ stride: Int, to target: UnsafeMutablePointer<UInt8>, _ targetStride: Int
    ) {
        let width = dimensions.width
        let count = (width + 7) / 8
        let blendSize = count * MemoryLayout<yuv_shim_blends>.stride
        let rowSize = source.width + Int(yuv_shim_blends_margin)
        withUnsafeTemporaryAllocation(
            byteCount: blendSize + rowSize + 2 * width, alignment: MemoryLayout<yuv_shim_blends>.alignment
        ) { memory in
            guard let base = memory.baseAddress else { return }
            let blends = base.bindMemory(to: yuv_shim_blends.self, capacity: count)
            let between = (base + blendSize).bindMemory(to: UInt8.self, capacity: rowSize + 2 * width)
            let pair = between + rowSize
            yuv_shim_set_blends(blends, Int32(count), Int32(columns.first), Int32(columns.step))
            var blended = 0
            for row in 0..<dimensions.height {
                let position = min(rows.first + row * rows.step, (source.height - 1) << 16)
                let (index, share) = (position >> 16, Int32(position >> 8 & 255))
                let result = target + row * targetStride
                if dimensions.height < source.height {
                    // The last row has none below it.
                    let (upper, next) = (samples + index * stride, index < source.height - 1 ? stride : 0)
                    InterpolatePlane(upper, 0, upper + next, 0, between, 0, Int32(source.width), 1, share)
                    yuv_shim_blend(between, blends, result, Int32(width))
                } else {
                    while blended < index + 2 {
                        between.update(from: samples + blended * stride, count: source.width)
                        yuv_shim_blend(between, blends, pair + blended % 2 * width, Int32(width))
                        blended += 1
                    }
                    let (upper, lower) = (pair + index % 2 * width, pair + (index + 1) % 2 * width)
                    InterpolatePlane(upper, 0, lower, 0, result, 0, Int32(width), 1, share)
                }
            }
        }
    }
}
