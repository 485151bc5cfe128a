public import MediaCore

/// A packet in its place in the stream.
public struct ReceivedPacket: Hashable, Sendable {
    public var packet: RTPPacket
    /// The sequence number without wrapping. It always grows; a step of more than one means loss, or a restart of the
    /// sender.
    public var sequence: Int64
    /// The arrival of the packet.
    public var arrival: MonotonicInstant

    public init(packet: RTPPacket, sequence: Int64, arrival: MonotonicInstant) {
        self.packet = packet
        self.sequence = sequence
        self.arrival = arrival
    }
}
