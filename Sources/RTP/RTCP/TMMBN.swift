import NIOCore

/// Tells who asked for bounds which of them are kept: temporary maximum media stream bit rate notification (RFC 5104
/// 4.2.2).
public struct TMMBN: Hashable, Sendable {
    static let format: UInt8 = 4

    public var senderSSRC: UInt32
    /// The bounds that decide, each with who asked for it; none when there is no bound.
    public var limits: [BitRateLimit]

    public init(senderSSRC: UInt32, limits: [BitRateLimit]) {
        self.senderSSRC = senderSSRC
        self.limits = limits
    }

    init(parsing body: ByteBuffer) throws(RTPError) {
        (senderSSRC, limits) = try BitRateLimitList.read(body, of: "TMMBN", bound: "bound of a TMMBN")
    }

    func encode(into buffer: inout ByteBuffer) {
        BitRateLimitList.write(limits, senderSSRC: senderSSRC, format: Self.format, into: &buffer)
    }
}
