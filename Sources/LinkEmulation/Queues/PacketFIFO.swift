import MediaCore
import NIOCore

/// A queue of packets: first in, first out.
struct PacketFIFO<Packet> {
    private var packets = CircularBuffer<QueuedPacket<Packet>>()
    private(set) var size = DataSize.zero

    var count: Int { packets.count }
    var isEmpty: Bool { packets.isEmpty }
    var first: QueuedPacket<Packet>? { packets.first }

    mutating func append(_ packet: QueuedPacket<Packet>) {
        size += packet.size
        packets.append(packet)
    }

    mutating func popFirst() -> QueuedPacket<Packet>? {
        guard let packet = packets.popFirst() else { return nil }
        size -= packet.size
        return packet
    }

    /// Returns the time that the first packet has waited.
    func delay(now: MonotonicInstant) -> Duration {
        packets.first.map { now - $0.enqueued } ?? .zero
    }
}

extension PacketFIFO: Sendable where Packet: Sendable {}

/// The number of packets that a discipline dropped or marked.
struct QueueCounters: Hashable, Sendable {
    var dropped = 0
    var marked = 0
}
