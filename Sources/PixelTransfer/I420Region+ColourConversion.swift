extension I420Region {
    /// Takes the samples of a region of the same size, converted. The source may be this very region; otherwise they
    /// do not overlap.
    public func convert(_ source: I420Region, by conversion: ColourConversion) {
        precondition(source.width == width && source.height == height, "a region takes one of its own size")
        for row in stride(from: 0, to: height, by: 2) {
            convertRows(source.rows(at: row), to: rows(at: row), by: conversion)
        }
    }

    /// Two rows of luma, the same one twice below an odd height's last, with their row of chroma.
    private struct Rows {
        var top: UnsafeMutablePointer<UInt8>
        var bottom: UnsafeMutablePointer<UInt8>
        var u: UnsafeMutablePointer<UInt8>
        var v: UnsafeMutablePointer<UInt8>
    }

    private func rows(at row: Int) -> Rows {
        let top = y + row * lumaStride
        return Rows(
            top: top, bottom: row + 1 < height ? top + lumaStride : top, u: u + row / 2 * chromaStrides.u,
            v: v + row / 2 * chromaStrides.v)
    }

    private func convertRows(_ source: Rows, to target: Rows, by conversion: ColourConversion) {
        let whole = width & ~(ColourBlock.width - 1)
        for x in stride(from: 0, to: whole, by: ColourBlock.width) {
            var block = ColourBlock(
                top: Self.load(source.top + x), bottom: Self.load(source.bottom + x), u: Self.load(source.u + x / 2),
                v: Self.load(source.v + x / 2))
            conversion.convert(&block)
            Self.store(block.top, to: target.top + x)
            Self.store(block.bottom, to: target.bottom + x)
            Self.store(block.u, to: target.u + x / 2)
            Self.store(block.v, to: target.v + x / 2)
        }
        let rest = width - whole
        guard rest > 0 else { return }
        var block = ColourBlock(
            top: Self.load(source.top + whole, count: rest), bottom: Self.load(source.bottom + whole, count: rest),
            u: Self.load(source.u + whole / 2, count: (rest + 1) / 2),
            v: Self.load(source.v + whole / 2, count: (rest + 1) / 2))
        conversion.convert(&block)
        Self.store(block.top, to: target.top + whole, count: rest)
        Self.store(block.bottom, to: target.bottom + whole, count: rest)
        Self.store(block.u, to: target.u + whole / 2, count: (rest + 1) / 2)
        Self.store(block.v, to: target.v + whole / 2, count: (rest + 1) / 2)
    }

    @inline(__always)
    private static func load<Vector: SIMD>(_ samples: UnsafeMutablePointer<UInt8>) -> Vector
    where Vector.Scalar == UInt8, Vector: BitwiseCopyable {
        UnsafeRawPointer(samples).loadUnaligned(as: Vector.self)
    }

    @inline(__always)
    private static func store<Vector: SIMD>(_ vector: Vector, to samples: UnsafeMutablePointer<UInt8>)
    where Vector.Scalar == UInt8, Vector: BitwiseCopyable {
        UnsafeMutableRawPointer(samples).storeBytes(of: vector, as: Vector.self)
    }

    /// The first samples of a vector; the others are zero.
    private static func load<Vector: SIMD>(_ samples: UnsafeMutablePointer<UInt8>, count: Int) -> Vector
    where Vector.Scalar == UInt8 {
        var vector = Vector()
        for index in 0..<count { vector[index] = samples[index] }
        return vector
    }

    private static func store<Vector: SIMD>(_ vector: Vector, to samples: UnsafeMutablePointer<UInt8>, count: Int)
    where Vector.Scalar == UInt8 {
        for index in 0..<count { samples[index] = vector[index] }
    }
}
