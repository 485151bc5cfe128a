import CLibYUV

/// Blends rectangles of single planes; the one place that calls libyuv's blending. Nothing is allocated.
enum PlaneBlender {
    /// A plane's samples from some sample on, to read.
    struct Samples {
        var base: UnsafePointer<UInt8>
        var stride: Int

        func at(x: Int, y: Int) -> UnsafePointer<UInt8> { base + y * stride + x }
    }

    /// A rectangle of a plane, to write.
    struct Target {
        var base: UnsafeMutablePointer<UInt8>
        var stride: Int
        var width: Int
        var height: Int

        func at(x: Int, y: Int) -> UnsafeMutablePointer<UInt8> { base + y * stride + x }
    }

    /// The samples to blend: existing ones, or ones that are made row by row.
    enum Source {
        case samples(Samples)
        case constant(UInt8)
        /// Chroma of a layer that lies across the chroma samples of the picture.
        case shifted(ShiftedChroma)
    }

    /// Samples that are handled at a time where rows have to be made first. Twice as many bytes are the most that is
    /// sure to come from the stack.
    private static let chunkLength = 512

    /// Blends by the alpha of each sample, `alpha` × `opacity`.
    static func blend(_ source: Source, alpha: Samples, opacity: Opacity, onto target: Target) {
        if case .samples(let samples) = source, opacity == .opaque {
            BlendPlane(
                samples.base, Int32(samples.stride), target.base, Int32(target.stride),
                alpha.base, Int32(alpha.stride), target.base, Int32(target.stride),
                Int32(target.width), Int32(target.height))
            return
        }
        withChunks(of: source, target) { row, x, y, count, scratch in
            var alphaRow = alpha.at(x: x, y: y)
            if opacity != .opaque {
                scale(alphaRow, by: opacity, into: scratch, count: count)
                alphaRow = UnsafePointer(scratch)
            }
            let destination = target.at(x: x, y: y)
            BlendPlane(
                row, 0, destination, 0, alphaRow, 0, destination, 0, Int32(count), 1)
        }
    }

    /// Blends all samples by the same opacity.
    static func mix(_ source: Source, opacity: Opacity, onto target: Target) {
        switch source {
        case .samples(let samples):
            mix(samples, opacity: opacity, onto: target)
        case .constant(let value):
            for y in 0..<target.height { mix(value, opacity: opacity, onto: target.at(x: 0, y: y), target.width) }
        case .shifted:
            withChunks(of: source, target) { row, x, y, count, _ in
                mix(
                    Samples(base: row, stride: 0), opacity: opacity,
                    onto: Target(base: target.at(x: x, y: y), stride: 0, width: count, height: 1))
            }
        }
    }

    /// Multiplies the samples' distance from `base`, the value of transparency, by `opacity`.
    static func attenuate(_ target: Target, towards base: UInt8, opacity: Opacity) {
        let weight = UInt16(opacity.parts)
        let constant = UInt16(base) * (256 - weight)
        for y in 0..<target.height {
            let samples = UnsafeMutableBufferPointer(start: target.at(x: 0, y: y), count: target.width)
            for index in samples.indices {
                // 255 × 256 at most.
                samples[index] = UInt8(truncatingIfNeeded: (UInt16(samples[index]) &* weight &+ constant) >> 8)
            }
        }
    }

    private static func mix(_ samples: Samples, opacity: Opacity, onto target: Target) {
        guard opacity != .opaque else {
            // The C library's moves are faster in narrow rows than libyuv's.
            for y in 0..<target.height {
                target.at(x: 0, y: y).update(from: samples.at(x: 0, y: y), count: target.width)
            }
            return
        }
        InterpolatePlane(
            target.base, Int32(target.stride), samples.base, Int32(samples.stride), target.base, Int32(target.stride),
            Int32(target.width), Int32(target.height), Int32(opacity.parts))
    }

    private static func mix(
        _ value: UInt8, opacity: Opacity, onto destination: UnsafeMutablePointer<UInt8>, _ count: Int
    ) {
        guard opacity != .opaque else { return destination.update(repeating: value, count: count) }
        let weight = UInt16(opacity.parts)
        let constant = UInt16(value) * weight + 128
        let samples = UnsafeMutableBufferPointer(start: destination, count: count)
        for index in samples.indices {
            // 255 × 256 + 128 at most.
            samples[index] = UInt8(truncatingIfNeeded: (UInt16(samples[index]) &* (256 - weight) &+ constant) >> 8)
        }
    }

    private static func scale(
        _ alpha: UnsafePointer<UInt8>, by opacity: Opacity, into scratch: UnsafeMutablePointer<UInt8>, count: Int
    ) {
        let weight = UInt16(opacity.parts)
        for index in 0..<count {
            scratch[index] = UInt8(truncatingIfNeeded: (UInt16(alpha[index]) &* weight &+ 128) >> 8)
        }
    }

    /// Calls `body` with the source's samples piece by piece, each of one row, and with scratch memory for as many.
    private static func withChunks(
        of source: Source, _ target: Target,
        _ body: (
            _ row: UnsafePointer<UInt8>, _ x: Int, _ y: Int, _ count: Int, _ scratch: UnsafeMutablePointer<UInt8>
        ) -> Void
    ) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 2 * chunkLength) { memory in
            guard let made = memory.baseAddress else { return }
            let scratch = made + chunkLength
            if case .constant(let value) = source { made.update(repeating: value, count: chunkLength) }
            for y in 0..<target.height {
                for x in stride(from: 0, to: target.width, by: chunkLength) {
                    let count = min(chunkLength, target.width - x)
                    switch source {
                    case .samples(let samples):
                        body(samples.at(x: x, y: y), x, y, count, scratch)
                    case .constant:
                        body(made, x, y, count, scratch)
                    case .shifted(let chroma):
                        chroma.write(x: x, y: y, count: count, to: made)
                        body(made, x, y, count, scratch)
                    }
                }
            }
        }
    }
}

/// A plane of chroma samples shifted by half a sample to the left, up, or both, for a layer that begins at an odd
/// column or row.
struct ShiftedChroma {
    var base: UnsafePointer<UInt8>
    var stride: Int
    var width: Int
    var height: Int
    var isShiftedLeft: Bool
    var isShiftedUp: Bool
    /// The first column and row that are seen, counted in samples of the result.
    var firstColumn: Int
    var firstRow: Int

    /// Writes `count` samples of a row from column `x` on: means of two or four.
    func write(x: Int, y: Int, count: Int, to destination: UnsafeMutablePointer<UInt8>) {
        let row = firstRow + y
        let lower = base + min(row, height - 1) * stride
        let upper = base + min(max(0, isShiftedUp ? row - 1 : row), height - 1) * stride
        let step = isShiftedLeft ? 1 : 0
        let column = firstColumn + x
        // The samples that have all neighbours; those at the ends repeat the last one.
        let first = min(max(0, step - column), count)
        let inner = first..<max(first, min(count, width - column))
        for index in 0..<inner.lowerBound { writeAtEnd(index, column: column, lower, upper, to: destination) }
        let (lowerLeft, upperLeft) = (lower + column - step, upper + column - step)
        for index in inner {
            let sum =
                UInt16(upperLeft[index]) &+ UInt16(upperLeft[index + step]) &+ UInt16(lowerLeft[index])
                &+ UInt16(lowerLeft[index + step])
            destination[index] = UInt8(truncatingIfNeeded: (sum &+ 2) >> 2)
        }
        for index in inner.upperBound..<count { writeAtEnd(index, column: column, lower, upper, to: destination) }
    }

    private func writeAtEnd(
        _ index: Int, column: Int, _ lower: UnsafePointer<UInt8>, _ upper: UnsafePointer<UInt8>,
        to destination: UnsafeMutablePointer<UInt8>
    ) {
        let right = min(column + index, width - 1)
        let left = min(max(0, isShiftedLeft ? column + index - 1 : column + index), width - 1)
        let sum = UInt16(upper[left]) + UInt16(upper[right]) + UInt16(lower[left]) + UInt16(lower[right])
        destination[index] = UInt8(truncatingIfNeeded: (sum + 2) / 4)
    }
}
