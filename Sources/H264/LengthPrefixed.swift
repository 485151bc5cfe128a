public import NIOCore

/// NAL units behind their length, big endian, as in MP4 samples (ISO/IEC 14496-15 5.3).
public enum LengthPrefixed {
    /// The NAL units in `data`, as slices of it; units of length zero are left out.
    ///
    /// - Parameter lengthSize: Bytes of a length: 1, 2 or 4.
    public static func nalUnits(in data: ByteBuffer, lengthSize: Int = 4) throws(H264ParseError) -> [NALUnit] {
        try check(lengthSize)
        var units: [NALUnit] = []
        var rest = data
        while rest.readableBytes > 0 {
            let offset = rest.readerIndex - data.readerIndex
            guard let length = rest.readLength(size: lengthSize), let slice = rest.readSlice(length: length) else {
                throw .truncatedUnit(offset: offset)
            }
            if let unit = NALUnit(slice) { units.append(unit) }
        }
        return units
    }

    /// The NAL units, each behind its length in four bytes.
    public static func encode(_ nalUnits: [NALUnit]) -> ByteBuffer {
        var buffer = ByteBufferAllocator().buffer(capacity: nalUnits.reduce(0) { $0 + 4 + $1.count })
        for unit in nalUnits {
            buffer.writeInteger(UInt32(truncatingIfNeeded: unit.count))
            buffer.writeImmutableBuffer(unit.bytes)
        }
        return buffer
    }

    /// The NAL units, each behind its length in `lengthSize` bytes: 1, 2 or 4. Throws when one is too long for that.
    public static func encode(_ nalUnits: [NALUnit], lengthSize: Int) throws(H264ParseError) -> ByteBuffer {
        try check(lengthSize)
        guard lengthSize < 4 else { return encode(nalUnits) }
        var buffer = ByteBufferAllocator().buffer(capacity: nalUnits.reduce(0) { $0 + lengthSize + $1.count })
        for unit in nalUnits {
            guard unit.count < 1 << (8 * lengthSize) else {
                throw .unitTooLong(count: unit.count, maximum: 1 << (8 * lengthSize) - 1)
            }
            if lengthSize == 1 {
                buffer.writeInteger(UInt8(truncatingIfNeeded: unit.count))
            } else {
                buffer.writeInteger(UInt16(truncatingIfNeeded: unit.count))
            }
            buffer.writeImmutableBuffer(unit.bytes)
        }
        return buffer
    }

    private static func check(_ lengthSize: Int) throws(H264ParseError) {
        guard lengthSize == 1 || lengthSize == 2 || lengthSize == 4 else {
            throw .unsupportedLengthSize(lengthSize)
        }
    }
}

extension ByteBuffer {
    /// Reads an unsigned big-endian number of 1, 2 or 4 bytes.
    fileprivate mutating func readLength(size: Int) -> Int? {
        switch size {
        case 1: readInteger(as: UInt8.self).map(Int.init)
        case 2: readInteger(as: UInt16.self).map(Int.init)
        default: readInteger(as: UInt32.self).flatMap(Int.init(exactly:))
        }
    }
}
