import H264
package import MediaCore
package import NIOCore
package import VideoCoding

/// Writes the time of a picture into the bytes of its frame, and reads it again.
package enum FrameStamp {
    /// The size of the length, the header, the beginning of a slice, and the time.
    package static let leastSize = 40
    private static let digits = 16
    private static let digit: UInt8 = 0x60

    /// Returns a slice after its length.
    package static func frame(_ statistics: EncodeStatistics, time: MediaTime) -> ByteBuffer {
        let size = max(statistics.size.bytes, leastSize)
        var buffer = ByteBufferAllocator().buffer(capacity: size)
        buffer.writeInteger(UInt32(truncatingIfNeeded: size - 4))
        let isKeyframe = statistics.type == .idr
        let header: UInt8 = isKeyframe ? 0x65 : statistics.isReference ? 0x41 : 0x01
        // Macroblock 0; an I or a P slice; parameter set 0 (H.264 7.3.3).
        buffer.writeBytes([header, isKeyframe ? 0xB8 : 0xE0])
        let nanoseconds = UInt64(bitPattern: time.duration.nanoseconds)
        for place in 0..<digits {
            buffer.writeInteger(digit | UInt8(truncatingIfNeeded: nanoseconds >> (4 * UInt64(place))) & 0xF)
        }
        buffer.writeRepeatingByte(0x55, count: size - buffer.readableBytes)
        return buffer
    }

    /// Returns the time at which the frame's picture was made; nil if the frame has no stamp.
    package static func time(of sample: SampleBuffer) -> MonotonicInstant? {
        guard let unit = try? LengthPrefixed.nalUnits(in: sample.data.contiguous()).first(where: \.isVCL),
            let bytes = unit.bytes.getBytes(at: unit.bytes.readerIndex + 2, length: digits)
        else { return nil }
        var nanoseconds: UInt64 = 0
        for (place, byte) in bytes.enumerated() {
            guard byte & 0xF0 == digit else { return nil }
            nanoseconds |= UInt64(byte & 0xF) << (4 * UInt64(place))
        }
        return MonotonicInstant(nanoseconds: Int64(bitPattern: nanoseconds))
    }
}
