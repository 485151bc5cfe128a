import NIOCore

/// RTCP packet types (RFC 3550 12.1, RFC 4585 6.1).
enum RTCPType {
    static let senderReport: UInt8 = 200
    static let receiverReport: UInt8 = 201
    static let sourceDescription: UInt8 = 202
    static let goodbye: UInt8 = 203
    static let transportLayerFeedback: UInt8 = 205
    static let payloadSpecificFeedback: UInt8 = 206
}

/// The first word of every RTCP packet.
struct RTCPHeader {
    /// Bytes of the header.
    static let size = 4
    /// The largest value of a five-bit count.
    static let maximumCount = 31

    var hasPadding: Bool
    /// The five bits that count reports or sources, or name the format of a feedback message.
    var countOrFormat: UInt8
    var type: UInt8
    /// Bytes behind the header.
    var bodySize: Int

    init(reading buffer: inout ByteBuffer) throws(RTPError) {
        guard let (flags, type, words) = buffer.readMultipleIntegers(as: (UInt8, UInt8, UInt16).self) else {
            throw .truncated(structure: "RTCP header", needed: Self.size, available: buffer.readableBytes)
        }
        guard flags >> 6 == 2 else { throw .unsupportedVersion(flags >> 6) }
        hasPadding = flags & 0x20 != 0
        countOrFormat = flags & 0x1F
        self.type = type
        bodySize = Int(words) * 4
    }
}

extension ByteBuffer {
    /// Appends an RTCP packet: a header, the output of `body`, zeros up to a whole word, and the resulting length.
    ///
    /// Callers limit their lists so that the length fits its 16 bits.
    mutating func writeRTCP(type: UInt8, countOrFormat: UInt8, body: (inout ByteBuffer) -> Void) {
        let start = writerIndex
        writeMultipleIntegers(0x80 | (countOrFormat & 0x1F), type, UInt16(0))
        body(&self)
        let size = writerIndex - start
        writeRepeatingByte(0, count: (4 - size % 4) % 4)
        setInteger(UInt16(clamping: (writerIndex - start) / 4 - 1), at: start + 2)
    }

    /// Appends a list as RTCP packets of one type, each with the `body` of up to 31 of its elements. An empty list is a
    /// packet too.
    mutating func writeRTCP<Element>(
        type: UInt8, listing elements: [Element], body: (inout ByteBuffer, ArraySlice<Element>) -> Void
    ) {
        var rest = elements[...]
        repeat {
            let part = rest.prefix(RTCPHeader.maximumCount)
            rest = rest.dropFirst(part.count)
            writeRTCP(type: type, countOrFormat: UInt8(truncatingIfNeeded: part.count)) { body(&$0, part) }
        } while !rest.isEmpty
    }
}
