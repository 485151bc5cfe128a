import NIOCore

/// Packets that a receiver misses and wants again (RFC 4585 6.2.1).
public struct GenericNACK: Hashable, Sendable {
    static let format: UInt8 = 1

    public var senderSSRC: UInt32
    /// The source whose packets are missing.
    public var mediaSSRC: UInt32
    /// The sequence numbers in any order; ascending lists (modulo 2¹⁶) make the smallest packets.
    public var sequenceNumbers: [UInt16]

    public init(senderSSRC: UInt32, mediaSSRC: UInt32, sequenceNumbers: [UInt16]) {
        self.senderSSRC = senderSSRC
        self.mediaSSRC = mediaSSRC
        self.sequenceNumbers = sequenceNumbers
    }

    init(parsing body: ByteBuffer) throws(RTPError) {
        var body = body
        senderSSRC = try body.read(of: "generic NACK")
        mediaSSRC = try body.read(of: "generic NACK")
        sequenceNumbers = []
        while body.readableBytes > 0 {
            let first = try body.read(UInt16.self, of: "generic NACK")
            var following = try body.read(UInt16.self, of: "generic NACK")
            sequenceNumbers.append(first)
            var sequenceNumber = first
            while following != 0 {
                sequenceNumber &+= 1
                if following & 1 != 0 { sequenceNumbers.append(sequenceNumber) }
                following >>= 1
            }
        }
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeRTCP(type: RTCPType.transportLayerFeedback, countOrFormat: Self.format) {
            $0.writeMultipleIntegers(senderSSRC, mediaSSRC)
            var index = sequenceNumbers.startIndex
            // There are 2¹⁶ sequence numbers: a longer list repeats itself and would not fit the length field.
            let end = min(sequenceNumbers.endIndex, Int(UInt16.max) - 2)
            while index < end {
                let first = sequenceNumbers[index]
                var following: UInt16 = 0
                index += 1
                while index < end {
                    let distance = sequenceNumbers[index] &- first
                    guard distance <= 16 else { break }
                    if distance > 0 { following |= 1 << (distance - 1) }
                    index += 1
                }
                $0.writeMultipleIntegers(first, following)
            }
        }
    }
}
