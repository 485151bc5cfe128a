import NIOCore

/// A request to send no more than so much: temporary maximum media stream bit rate request (RFC 5104 4.2.1).
public struct TMMBR: Hashable, Sendable {
    static let format: UInt8 = 3
    /// The most that a packet's length can say.
    private static let maximumCount = 0x7FFE

    public var senderSSRC: UInt32
    /// The bounds that are asked for, each of one of the receiver's streams.
    public var limits: [BitRateLimit]

    public init(senderSSRC: UInt32, limits: [BitRateLimit]) {
        self.senderSSRC = senderSSRC
        self.limits = limits
    }

    init(parsing body: ByteBuffer) throws(RTPError) {
        var body = body
        senderSSRC = try body.read(of: "TMMBR")
        // The media source of the header is unused; each bound names its own.
        _ = try body.read(UInt32.self, of: "TMMBR")
        limits = []
        while body.readableBytes > 0 { limits.append(try BitRateLimit(reading: &body, of: "bound of a TMMBR")) }
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeRTCP(type: RTCPType.transportLayerFeedback, countOrFormat: Self.format) {
            $0.writeMultipleIntegers(senderSSRC, UInt32(0))
            for limit in limits.prefix(Self.maximumCount) { limit.encode(into: &$0) }
        }
    }
}
