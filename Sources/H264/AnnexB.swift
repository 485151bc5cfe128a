public import NIOCore

/// The byte stream format: NAL units behind start codes (H.264 annex B).
public enum AnnexB {
    public enum StartCodeLength: Hashable, Sendable {
        /// Four bytes before every NAL unit, as RTP gateways and most encoders write them.
        case four
        /// Three bytes if the standard allows it: before all but an access unit's first NAL unit, SPS and PPS (B.1.2).
        case shortest
    }

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

    /// The NAL units of one access unit as a byte stream, each behind a start code.
    public static func encode(_ nalUnits: [NALUnit], startCodes: StartCodeLength = .four) -> ByteBuffer {
        var buffer = ByteBufferAllocator().buffer(capacity: nalUnits.reduce(0) { $0 + 4 + $1.count })
        for (index, unit) in nalUnits.enumerated() {
            if startCodes == .four || index == 0 || unit.isParameterSet { buffer.writeInteger(0 as UInt8) }
            buffer.writeMultipleIntegers(0 as UInt16, 1 as UInt8)
            buffer.writeImmutableBuffer(unit.bytes)
        }
        return buffer
    }
}
