package import NIOCore

/// The cyclic redundancy check of IEEE 802.3 and ISO 3309 (polynomial 0xEDB88320, bits reversed), which finds every
/// change of up to four bytes in a row.
package enum CRC32 {
    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 0 ? value >> 1 : value >> 1 ^ 0xEDB8_8320 }
    }

    /// The check of the first `count` readable bytes, or of all there are.
    package static func checksum(of bytes: ByteBuffer, upTo count: Int = .max) -> UInt32 {
        bytes.withUnsafeReadableBytes { bytes in
            table.withUnsafeBufferPointer { table in
                var value = UInt32.max
                for byte in bytes.prefix(count) {
                    value = table[Int((value ^ UInt32(byte)) & 0xFF)] ^ (value >> 8)
                }
                return ~value
            }
        }
    }
}
