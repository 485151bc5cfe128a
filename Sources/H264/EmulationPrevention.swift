import NIOCore

/// The bytes 0x03 that keep start codes out of NAL units (H.264 7.3.1, 7.4.1).
enum EmulationPrevention {
    /// The raw payload within `escaped`: each 0x03 behind two zero bytes is left out.
    static func removed(from escaped: UnsafeRawBufferPointer) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: escaped.count) { raw, count in
            var zeros = 0
            for byte in escaped {
                if zeros >= 2 && byte == 3 {
                    zeros = 0
                    continue
                }
                zeros = byte == 0 ? zeros + 1 : 0
                raw.initializeElement(at: count, to: byte)
                count += 1
            }
        }
    }

    /// Appends `raw` to `buffer`, with a 0x03 where a start code would be emulated and after a final zero byte.
    static func write(_ raw: [UInt8], into buffer: inout ByteBuffer) {
        var zeros = 0
        var written = 0
        for (index, byte) in raw.enumerated() {
            if zeros >= 2 && byte <= 3 {
                buffer.writeBytes(raw[written..<index])
                buffer.writeInteger(3 as UInt8)
                written = index
                zeros = 0
            }
            zeros = byte == 0 ? zeros + 1 : 0
        }
        buffer.writeBytes(raw[written...])
        if raw.last == 0 { buffer.writeInteger(3 as UInt8) }
    }
}
