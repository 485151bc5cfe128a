import NIOCore

/// Packets that wait to be decoded, by sequence number.
struct PacketQueue {
    struct Packet {
        var payload: ByteBuffer
        var sequence: Int64
        /// The RTP timestamp, unwrapped.
        var timestamp: Int64
        var sampleCount: Int

        /// The timestamp after the packet's last sample.
        var end: Int64 { timestamp + Int64(sampleCount) }
    }

    enum Insertion {
        case inserted
        case duplicate
        /// Inserted, and the oldest packet dropped for it.
        case insertedDroppingOldest
    }

    private let capacity: Int
    private var packets: [Packet] = []
    /// The sequence number of bit 0 of `seen`, the newest that came.
    private var newestSequence: Int64?
    /// Which of the 64 newest sequence numbers came.
    private var seen: UInt64 = 0

    init(capacity: Int) {
        self.capacity = capacity
        packets.reserveCapacity(capacity + 1)
    }

    var first: Packet? { packets.first }
    var last: Packet? { packets.last }
    var count: Int { packets.count }

    mutating func removeAll() {
        packets.removeAll(keepingCapacity: true)
        newestSequence = nil
        seen = 0
    }

    mutating func popFirst() -> Packet? {
        packets.isEmpty ? nil : packets.removeFirst()
    }

    /// Whether a packet of this number came before; notes that it came now.
    mutating func noteArrival(of sequence: Int64) -> Bool {
        guard let newest = newestSequence else {
            (newestSequence, seen) = (sequence, 1)
            return false
        }
        let distance = sequence &- newest
        if distance > 0 {
            seen = distance < 64 ? seen << UInt64(distance) | 1 : 1
            newestSequence = sequence
            return false
        }
        guard distance > -64 else { return false }
        let bit = UInt64(1) << UInt64(-distance)
        defer { seen |= bit }
        return seen & bit != 0
    }

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
