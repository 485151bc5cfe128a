import MediaCore

/// A queue with active management. The discipline is fixed at its creation.
struct ManagedQueue<Packet> {
    // Exactly one of these is set. Optionals can be changed in place; the value of an enumeration would be copied.
    private var coDel: CoDelQueue<Packet>?
    private var fair: FairQueueCoDel<Packet>?
    private var dual: DualPI2<Packet>?
    private(set) var counters = QueueCounters()

    /// Creates a queue; nil for a discipline without active management.
    init?(_ discipline: QueueDiscipline, start: MonotonicInstant) {
        switch discipline {
        case .dropTail: return nil
        case .coDel: coDel = CoDelQueue()
        case .fairQueueCoDel: fair = FairQueueCoDel()
        case .dualPI2: dual = DualPI2(start: start)
        }
    }

    var size: DataSize { coDel?.packets.size ?? fair?.size ?? dual?.size ?? .zero }
    var count: Int { coDel?.packets.count ?? fair?.count ?? dual?.count ?? 0 }
    var isEmpty: Bool { count == 0 }
    /// True if a full queue drops a packet of its longest flow to make room for a new packet.
    var makesRoom: Bool { fair != nil }

    mutating func enqueue(_ packet: QueuedPacket<Packet>, now: MonotonicInstant) {
        coDel?.packets.append(packet)
        fair?.enqueue(packet)
        dual?.enqueue(packet, now: now)
    }

    /// Returns the next packet to leave; nil if the queue is empty, or if all waiting packets were dropped.
    mutating func dequeue(now: MonotonicInstant) -> QueuedPacket<Packet>? {
        if coDel != nil { return coDel?.dequeue(now: now, counters: &counters) }
        if fair != nil { return fair?.dequeue(now: now, counters: &counters) }
        return dual?.dequeue(now: now, counters: &counters)
    }

    mutating func dropFromLongest() {
        fair?.dropFromLongest()
        counters.dropped += 1
    }
}

extension ManagedQueue: Sendable where Packet: Sendable {}
