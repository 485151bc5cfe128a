public import NIOCore

/// The byte stream format: NAL units behind start codes (H.264 annex B).
public enum AnnexB {
    /// The NAL units in `stream`, as slices of it. Bytes before the first start code are left out, as are empty units.
    public static func nalUnits(in stream: ByteBuffer) -> [NALUnit] {
        var units: [NALUnit] = []
        stream.withUnsafeReadableBytes { bytes in
            var next = StartCode.firstOffset(in: bytes, from: 0)
            while let startCode = next {
                let start = startCode + 3
                next = StartCode.firstOffset(in: bytes, from: start)
                let end = StartCode.trimmingZeros(in: bytes, from: start, to: next ?? bytes.count)
                if let slice = stream.getSlice(at: stream.readerIndex + start, length: end - start),
                    let unit = NALUnit(slice)
                {
                    units.append(unit)
                }
            }
        }
        return units
    }

    /// The NAL units as a byte stream, each behind a start code of four bytes.
    public static func encode(_ nalUnits: [NALUnit]) -> ByteBuffer {
        var buffer = ByteBufferAllocator().buffer(capacity: nalUnits.reduce(0) { $0 + 4 + $1.count })
        for unit in nalUnits {
            buffer.writeInteger(1 as UInt32)
            buffer.writeImmutableBuffer(unit.bytes)
        }
        return buffer
    }
}
