import NIOCore

/// The cyclic redundancy check of IEEE 802.3 (CRC-32), which finds every change of up to four bytes in a row.
enum Checksum {
    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in
            value & 1 == 0 ? value >> 1 : (value >> 1) ^ 0xEDB8_8320
        }
    }

    /// The checksum of the bytes of `buffers`, one after the other.
    static func of(_ buffers: ByteBuffer...) -> UInt32 {
        var state = ~UInt32(0)
        table.withUnsafeBufferPointer { table in
            for buffer in buffers {
                buffer.withUnsafeReadableBytes { bytes in
                    for byte in bytes { state = (state >> 8) ^ table[Int(UInt8(truncatingIfNeeded: state) ^ byte)] }
                }
            }
        }
        return ~state
    }
}
