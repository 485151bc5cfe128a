import MediaCore
import NIOCore

/// Packets that wait to be decoded, by sequence number.
struct PacketQueue {
    struct Packet {
        var payload: ByteBuffer
        var sequence: Int64
        /// The RTP timestamp, unwrapped.
        var timestamp: Int64
        var sampleCount: Int
        /// The level that the packet claims; nil if it claims none.
        var claimedLevel: AudioLevel?

        /// The timestamp after the packet's last sample.
        var end: Int64 { timestamp + Int64(sampleCount) }
    }

    enum Insertion {
        case inserted
        case duplicate
        /// The packet was inserted, and the oldest one dropped.
        case insertedDroppingOldest
    }

    private let capacity: Int
    private var packets: [Packet] = []
    private var arrived = RecentNumbers()

    init(capacity: Int) {
        self.capacity = capacity
        packets.reserveCapacity(capacity + 1)
    }

    var first: Packet? { packets.first }
    var last: Packet? { packets.last }
    var count: Int { packets.count }

    mutating func removeAll() {
        packets.removeAll(keepingCapacity: true)
        arrived = RecentNumbers()
    }

    mutating func popFirst() -> Packet? {
        packets.isEmpty ? nil : packets.removeFirst()
    }

    /// Records the arrival of a packet. Returns true if a packet with this number came before.
    mutating func recordArrival(of sequence: Int64) -> Bool { arrived.insert(sequence) == .repeated }

    mutating func insert(_ packet: Packet) -> Insertion {
        var index = packets.count
        while index > 0, packets[index - 1].sequence > packet.sequence { index -= 1 }
        if index > 0, packets[index - 1].sequence == packet.sequence { return .duplicate }
        packets.insert(packet, at: index)
        guard packets.count > capacity else { return .inserted }
        packets.removeFirst()
        return .insertedDroppingOldest
    }
}
