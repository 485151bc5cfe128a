import NIOCore

/// Sources that leave (RFC 3550 6.6).
public struct Goodbye: Hashable, Sendable {
    /// The sources that leave. Those after the 31st are written as further packets.
    public var ssrcs: [UInt32]
    /// The reason, written as up to 255 bytes of UTF-8.
    public var reason: String?

    public init(ssrcs: [UInt32], reason: String? = nil) {
        self.ssrcs = ssrcs
        self.reason = reason
    }

    init(parsing body: ByteBuffer, sourceCount: UInt8) throws(RTPError) {
        var body = body
        ssrcs = []
        for _ in 0..<sourceCount { ssrcs.append(try body.read(of: "goodbye")) }
        if let length = body.readInteger(as: UInt8.self) {
            let text = try body.read(bytes: Int(length), of: "reason of a goodbye")
            reason = text.readableBytes > 0 ? String(decoding: text.readableBytesView, as: UTF8.self) : nil
        }
    }

    func encode(into buffer: inout ByteBuffer) {
        buffer.writeRTCP(type: RTCPType.goodbye, listing: ssrcs) { buffer, part in
            for ssrc in part { buffer.writeInteger(ssrc) }
            if let reason, !reason.isEmpty {
                let text = reason.utf8(upTo: 255)
                buffer.writeInteger(UInt8(truncatingIfNeeded: text.count))
                buffer.writeBytes(text)
            }
        }
    }
}
