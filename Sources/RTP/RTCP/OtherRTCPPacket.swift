public import NIOCore

/// An RTCP packet that this module has no codec for.
public struct OtherRTCPPacket: Hashable, Sendable {
    public var packetType: UInt8
    /// The five bits behind version and padding: a count, or the format of a feedback message.
    public var countOrFormat: UInt8
    /// The bytes after the first word, without padding; zeros are written up to a whole word.
    public var body: ByteBuffer

    public init(packetType: UInt8, countOrFormat: UInt8, body: ByteBuffer) {
        self.packetType = packetType
        self.countOrFormat = countOrFormat
        self.body = body
    }

    func encode(into buffer: inout ByteBuffer) {
        let length = min(body.readableBytes, Int(UInt16.max) * 4)
        guard let body = body.getSlice(at: body.readerIndex, length: length) else { return }
        buffer.writeRTCP(type: packetType, countOrFormat: countOrFormat) { $0.writeImmutableBuffer(body) }
    }
}
