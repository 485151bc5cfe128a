import NIOCore

/// An acknowledgement of a complete picture, so that the source may refer to it (RFC 4585 6.3.3).
///
/// The codec defines how to name a picture, and H.264 defines nothing. Here it is the picture's RTP timestamp, 32 bits,
/// which all packets of an access unit have and no others (RFC 6184 5.1). There are only positive ones: a receiver
/// reports a missing picture with a picture loss indication.
public struct ReferencePictureSelectionIndication: Hashable, Sendable {
    static let format: UInt8 = 3
    /// The bits that fill up the last of the message's words.
    private static let paddingBits: UInt8 = 16

    public var senderSSRC: UInt32
    public var mediaSSRC: UInt32
    /// The payload type of the pictures, 7 bits.
    public var payloadType: UInt8
    public var timestamp: UInt32

    public init(senderSSRC: UInt32, mediaSSRC: UInt32, payloadType: UInt8, timestamp: UInt32) {
        self.senderSSRC = senderSSRC
        self.mediaSSRC = mediaSSRC
        self.payloadType = payloadType
        self.timestamp = timestamp
    }

    /// Returns true if the picture's name has the 32 bits of a timestamp. Other names are not understood here.
    static func isTimestamp(_ body: ByteBuffer) -> Bool {
        body.readableBytes == 16 && body.getInteger(at: body.readerIndex + 8, as: UInt8.self) == paddingBits
    }

    init(parsing body: ByteBuffer) throws(RTPError) {
        var body = body
        senderSSRC = try body.read(of: "RPSI")
        mediaSSRC = try body.read(of: "RPSI")
        _ = try body.read(UInt8.self, of: "RPSI")
        payloadType = try body.read(UInt8.self, of: "RPSI") & 0x7F
        timestamp = try body.read(of: "RPSI")
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeRTCP(type: RTCPType.payloadSpecificFeedback, countOrFormat: Self.format) {
            $0.writeMultipleIntegers(
                senderSSRC, mediaSSRC, Self.paddingBits, payloadType & 0x7F, timestamp, UInt16(0))
        }
    }
}
