import NIOCore

extension ByteBuffer {
    /// Reads a big-endian integer, or says which structure is cut short.
    mutating func read<Integer: FixedWidthInteger>(
        _ type: Integer.Type = Integer.self, of structure: StaticString
    ) throws(RTPError) -> Integer {
        guard let value = readInteger(as: type) else {
            throw .truncated(
                structure: structure.description, needed: MemoryLayout<Integer>.size, available: readableBytes)
        }
        return value
    }

    /// Reads `count` bytes as a slice, or says which structure is cut short.
    mutating func read(bytes count: Int, of structure: StaticString) throws(RTPError) -> ByteBuffer {
        guard count >= 0, let slice = readSlice(length: count) else {
            throw .truncated(structure: structure.description, needed: count, available: readableBytes)
        }
        return slice
    }

    /// Drops the padding that the last readable byte counts (RFC 3550 5.1) and returns how long it was.
    mutating func removePadding() throws(RTPError) -> UInt8 {
        guard let count = getInteger(at: writerIndex - 1, as: UInt8.self), count > 0, count <= readableBytes else {
            let last = readableBytes > 0 ? getInteger(at: writerIndex - 1, as: UInt8.self) : nil
            throw .invalidPadding(count: Int(last ?? 0), available: readableBytes)
        }
        moveWriterIndex(to: writerIndex - Int(count))
        return count
    }
}
