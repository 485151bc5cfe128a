import NIOCore

/// The notification of limits that a sender obeys: temporary maximum media stream bit rate notification (RFC 5104
/// 4.2.2).
public struct TMMBN: Hashable, Sendable {
    static let format: UInt8 = 4

    public var senderSSRC: UInt32
    /// The effective limits, each with its requester; empty without limits.
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
