import NIOCore

/// A receiver lost a picture that it cannot do without: the source should send a picture that refers to no other
/// (RFC 4585 6.3.1).
public struct PictureLossIndication: Hashable, Sendable {
    static let format: UInt8 = 1

    public var senderSSRC: UInt32
    public var mediaSSRC: UInt32

    public init(senderSSRC: UInt32, mediaSSRC: UInt32) {
        self.senderSSRC = senderSSRC
        self.mediaSSRC = mediaSSRC
    }

    init(parsing body: ByteBuffer) throws(RTPError) {
        var body = body
        senderSSRC = try body.read(of: "picture loss indication")
        mediaSSRC = try body.read(of: "picture loss indication")
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeRTCP(type: RTCPType.payloadSpecificFeedback, countOrFormat: Self.format) {
            $0.writeMultipleIntegers(senderSSRC, mediaSSRC)
        }
    }
}
