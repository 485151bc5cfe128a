import NIOCore

/// The common form of TMMBR and TMMBN: the sender, and limits that each name a stream.
enum BitRateLimitList {
    /// The largest count that a packet's length can state.
    private static let maximumCount = 0x7FFE

    /// - Parameters:
    ///   - packet: The packet's name in errors.
    ///   - bound: The name of one of its limits in errors.
    static func read(
        _ body: ByteBuffer, of packet: StaticString, bound: StaticString
    ) throws(RTPError) -> (senderSSRC: UInt32, limits: [BitRateLimit]) {
        var body = body
        let senderSSRC: UInt32 = try body.read(of: packet)
        // The media source of the header is unused.
        _ = try body.read(UInt32.self, of: packet)
        var limits: [BitRateLimit] = []
        while body.readableBytes > 0 { limits.append(try BitRateLimit(reading: &body, of: bound)) }
        return (senderSSRC, limits)
    }

    static func write(
        _ limits: [BitRateLimit], senderSSRC: UInt32, format: UInt8, into buffer: inout ByteBuffer
    ) {
        buffer.writeRTCP(type: RTCPType.transportLayerFeedback, countOrFormat: format) {
            $0.writeMultipleIntegers(senderSSRC, UInt32(0))
            for limit in limits.prefix(maximumCount) { limit.encode(into: &$0) }
        }
    }
}
