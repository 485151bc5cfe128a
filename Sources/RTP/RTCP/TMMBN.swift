import NIOCore

/// Tells who asked for bounds which of them are kept: temporary maximum media stream bit rate notification (RFC 5104 4.2.2).
public struct TMMBN: Hashable, Sendable {
    static let format: UInt8 = 4
    /// The most that a packet's length can say.
    private static let maximumCount = 0x7FFE

    public var senderSSRC: UInt32
    /// The bounds that decide, each with who asked for it; none when there is no bound.
    public var limits: [BitRateLimit]

    public init(senderSSRC: UInt32, limits: [BitRateLimit]) {
        self.senderSSRC = senderSSRC
        self.limits = limits
    }

    init(parsing body: ByteBuffer) throws(RTPError) {
        var body = body
        senderSSRC = try body.read(of: "TMMBN")
        // The media source of the header is unused; each bound names its own.
        _ = try body.read(UInt32.self, of: "TMMBN")
        limits = []
        while body.readableBytes > 0 { limits.append(try BitRateLimit(reading: &body, of: "bound of a TMMBN")) }
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeRTCP(type: RTCPType.transportLayerFeedback, countOrFormat: Self.format) {
            $0.writeMultipleIntegers(senderSSRC, UInt32(0))
            for limit in limits.prefix(Self.maximumCount) { limit.encode(into: &$0) }
        }
    }
}
