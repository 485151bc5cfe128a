import MediaCore
import NIOCore

/// The size that a flow may send in its turn (RFC 8290, section 5.2.3).
private let quantum = 1514

/// A queue for each flow, each with a CoDel of its own, served in turns (RFC 8290, section 4). Flows have numbers, so
/// no two flows share a queue; hashing would allow that.
struct FairQueueCoDel<Packet> {
    fileprivate struct FlowQueue {
        var flow: Int
        var packets = PacketFIFO<Packet>()
        var coDel = CoDel()
        var deficit = 0
        var isListed = false

        mutating func dequeue(now: MonotonicInstant, counters: inout QueueCounters) -> QueuedPacket<Packet>? {
            coDel.dequeue(from: &packets, now: now, counters: &counters)
        }
    }

    private var queues: [FlowQueue] = []
    /// The indices in `queues` of flows that became active; `oldQueues` has the others.
    private var newQueues = CircularBuffer<Int>()
    private var oldQueues = CircularBuffer<Int>()
    private(set) var size = DataSize.zero
    private(set) var count = 0

    mutating func enqueue(_ packet: QueuedPacket<Packet>) {
        var index = queues.firstIndex { $0.flow == packet.flow } ?? queues.count
        if index == queues.count {
            queues.append(FlowQueue(flow: packet.flow))
            index = queues.count - 1
        }
        size += packet.size
        count += 1
        queues[index].packets.append(packet)
        guard !queues[index].isListed else { return }
        queues[index].isListed = true
        queues[index].deficit = quantum
        newQueues.append(index)
    }

    mutating func dequeue(now: MonotonicInstant, counters: inout QueueCounters) -> QueuedPacket<Packet>? {
        while true {
            let isNew = !newQueues.isEmpty
            guard let index = newQueues.first ?? oldQueues.first else { return nil }
            if queues[index].deficit <= 0 {
                queues[index].deficit += quantum
                removeFirst(isNew: isNew)
                oldQueues.append(index)
                continue
            }
            let (sizeBefore, countBefore) = (queues[index].packets.size, queues[index].packets.count)
            let packet = queues[index].dequeue(now: now, counters: &counters)
            size -= sizeBefore - queues[index].packets.size
            count -= countBefore - queues[index].packets.count
            guard let packet else {
                removeFirst(isNew: isNew)
                // A new queue that is empty takes a turn among the old ones, so that new queues cannot starve these.
                if isNew { oldQueues.append(index) } else { queues[index].isListed = false }
                continue
            }
            queues[index].deficit -= packet.size.bytes
            return packet
        }
    }

    /// Drops the oldest packet of the longest queue.
    mutating func dropFromLongest() {
        guard let longest = queues.indices.max(by: { queues[$0].packets.size < queues[$1].packets.size }),
            let packet = queues[longest].packets.popFirst()
        else { return }
        size -= packet.size
        count -= 1
    }

    private mutating func removeFirst(isNew: Bool) {
        if isNew { newQueues.removeFirst() } else { oldQueues.removeFirst() }
    }
}

extension FairQueueCoDel.FlowQueue: Sendable where Packet: Sendable {}
extension FairQueueCoDel: Sendable where Packet: Sendable {}
