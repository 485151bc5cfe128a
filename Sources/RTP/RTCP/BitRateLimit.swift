public import MediaCore
import NIOCore

/// A bound on one stream's rate, as TMMBR and TMMBN tell it (RFC 5104 4.2.1.1 and 4.2.2.1).
public struct BitRateLimit: Hashable, Sendable {
    private static let largestMantissa: UInt64 = 0x1_FFFF

    /// The limited stream in a request, the source of the request in a notification.
    public var ssrc: UInt32
    /// The limit of the rate, all headers included. It is written with 17 significant bits, rounded down.
    public var maximum: BitRate
    /// The size of each packet without its payload, down to IP, as the requesting side measures it. At most 511 bytes
    /// are written.
    public var overhead: DataSize

    public init(ssrc: UInt32, maximum: BitRate, overhead: DataSize) {
        self.ssrc = ssrc
        self.maximum = maximum
        self.overhead = overhead
    }

    init(reading buffer: inout ByteBuffer, of structure: StaticString) throws(RTPError) {
        ssrc = try buffer.read(of: structure)
        let fields = try buffer.read(UInt32.self, of: structure)
        let exponent = fields >> 26
        let mantissa = Int64(fields >> 9 & UInt32(Self.largestMantissa))
        let fits = exponent < mantissa.leadingZeroBitCount
        maximum = BitRate(bitsPerSecond: fits ? mantissa << exponent : .max)
        overhead = DataSize(bytes: Int(fields & 0x1FF))
    }

    func encode(into buffer: inout ByteBuffer) {
        var mantissa = UInt64(clamping: maximum.bitsPerSecond)
        var exponent: UInt32 = 0
        while mantissa > Self.largestMantissa {
            mantissa >>= 1
            exponent += 1
        }
        let overhead = UInt32(clamping: min(max(overhead.bytes, 0), 0x1FF))
        buffer.writeMultipleIntegers(ssrc, exponent << 26 | UInt32(truncatingIfNeeded: mantissa) << 9 | overhead)
    }
}

/// Temporary maximum media stream bit rates: a request to send no more than the limits (TMMBR, RFC 5104 4.2.1), or the
/// notification of the limits that are kept, each with the receiver that asked for it (TMMBN, 4.2.2).
public struct BitRateLimits: Hashable, Sendable {
    static let requestFormat: UInt8 = 3
    static let notificationFormat: UInt8 = 4
    /// The most limits that a packet's length can state.
    private static let maximumCount = 0x7FFE

    public var senderSSRC: UInt32
    /// Empty in a notification if there is no limit.
    public var limits: [BitRateLimit]

    public init(senderSSRC: UInt32, limits: [BitRateLimit]) {
        self.senderSSRC = senderSSRC
        self.limits = limits
    }

    init(parsing body: ByteBuffer) throws(RTPError) {
        var body = body
        senderSSRC = try body.read(of: "TMMBR or TMMBN")
        // The media source of the header is unused.
        _ = try body.read(UInt32.self, of: "TMMBR or TMMBN")
        limits = []
        while body.readableBytes > 0 {
            limits.append(try BitRateLimit(reading: &body, of: "limit of a TMMBR or TMMBN"))
        }
    }

    func encode(format: UInt8, into buffer: inout ByteBuffer) {
        buffer.writeRTCP(type: RTCPType.transportLayerFeedback, countOrFormat: format) {
            $0.writeMultipleIntegers(senderSSRC, UInt32(0))
            for limit in limits.prefix(Self.maximumCount) { limit.encode(into: &$0) }
        }
    }
}
