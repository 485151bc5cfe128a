import MediaCore

extension PixelBuffer {
    /// Returns true if both show the same: every sample and attachment is equal. Compares memory, row by row.
    func hasSameContent(as other: PixelBuffer) -> Bool {
        if self === other { return true }
        guard format == other.format, dimensions == other.dimensions, attachments == other.attachments else {
            return false
        }
        return (0..<planeCount).allSatisfy { hasSamePlane($0, as: other) }
    }

    private func hasSamePlane(_ index: Int, as other: PixelBuffer) -> Bool {
        let (rowBytes, rows) = format.planeSize(index, of: dimensions)
        return withPlane(index) { left, leftStride in
            other.withPlane(index) { right, rightStride in
                (0..<rows).allSatisfy { row in
                    Self.areEqual(
                        UnsafeRawBufferPointer(rebasing: left[(row * leftStride)...].prefix(rowBytes)),
                        UnsafeRawBufferPointer(rebasing: right[(row * rightStride)...].prefix(rowBytes)))
                }
            }
        }
    }

    /// Compares two rows of equal length, a word at a time.
    private static func areEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        let whole = left.count & ~7
        var difference: UInt64 = 0
        for offset in stride(from: 0, to: whole, by: 8) {
            difference |=
                left.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                ^ right.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        }
        return difference == 0 && left[whole...].elementsEqual(right[whole...])
    }
}
