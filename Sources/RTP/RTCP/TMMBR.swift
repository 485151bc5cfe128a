import NIOCore

/// A request to limit a stream's rate: temporary maximum media stream bit rate request (RFC 5104 4.2.1).
public struct TMMBR: Hashable, Sendable {
    static let format: UInt8 = 3

    public var senderSSRC: UInt32
    /// The bounds that are asked for, each of one of the receiver's streams.
    public var limits: [BitRateLimit]

    public init(senderSSRC: UInt32, limits: [BitRateLimit]) {
        self.senderSSRC = senderSSRC
        self.limits = limits
    }

    init(parsing body: ByteBuffer) throws(RTPError) {
        (senderSSRC, limits) = try BitRateLimitList.read(body, of: "TMMBR", bound: "bound of a TMMBR")
    }

    func encode(into buffer: inout ByteBuffer) {
        BitRateLimitList.write(limits, senderSSRC: senderSSRC, format: Self.format, into: &buffer)
    }
}
