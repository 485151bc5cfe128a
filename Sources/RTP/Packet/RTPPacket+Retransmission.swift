import NIOCore

/// Retransmissions in a stream of their own (RFC 4588): the payload of the original packet behind its sequence number.
extension RTPPacket {
    /// The additional bytes of a retransmission.
    public static let retransmissionOverhead = 2

    /// This packet as it goes out again, in the stream of retransmissions (RFC 4588, section 4): timestamp, marker and
    /// header extensions stay.
    public func retransmission(payloadType: UInt8, ssrc: UInt32, sequenceNumber: UInt16) -> RTPPacket {
        var wrapped = ByteBufferAllocator().buffer(capacity: Self.retransmissionOverhead + payload.readableBytes)
        wrapped.writeInteger(self.sequenceNumber)
        wrapped.writeImmutableBuffer(payload)
        var packet = self
        packet.payloadType = payloadType
        packet.ssrc = ssrc
        packet.sequenceNumber = sequenceNumber
        packet.payload = wrapped
        packet.paddingLength = 0
        return packet
    }

    /// The packet that this one repeats; nil for one that only carries padding, such as a bandwidth probe.
    ///
    /// - Parameters:
    ///   - payloadType: The payload type of the original stream.
    ///   - ssrc: The original stream's source.
    public func original(payloadType: UInt8, ssrc: UInt32) -> RTPPacket? {
        var packet = self
        guard let sequenceNumber = packet.payload.readInteger(as: UInt16.self) else { return nil }
        packet.payloadType = payloadType
        packet.ssrc = ssrc
        packet.sequenceNumber = sequenceNumber
        packet.paddingLength = 0
        return packet
    }
}
