import MediaCore
import RTP

/// CoDel's state machine (RFC 8289, section 5), without the packets.
struct CoDel: Sendable {
    // RFC 8289, section 4.
    /// The standing delay that is acceptable.
    private static let target = Duration.milliseconds(5)
    /// The time that the delay must exceed the target before the first drop: about a round trip.
    private static let interval = Duration.milliseconds(100)
    /// The size of the largest packet. A queue that is no larger is never a standing queue.
    private static let maximumPacketSize = DataSize(bytes: 1500)

    private var firstAbove: MonotonicInstant?
    private var nextDrop = MonotonicInstant.zero
    private var count = 0
    private var lastCount = 0
    private var isDropping = false

    /// Returns the next packet of the queue after the drops that are due. If a mark replaces a drop, the packet is
    /// marked.
    mutating func dequeue<Packet>(
        from queue: inout PacketFIFO<Packet>, now: MonotonicInstant, counters: inout QueueCounters
    ) -> QueuedPacket<Packet>? {
        guard var (packet, isLate) = next(&queue, now: now) else {
            isDropping = false
            return nil
        }
        if isDropping {
            if !isLate { isDropping = false }
            while isDropping, now >= nextDrop {
                count += 1
                if mark(&packet, counters: &counters) {
                    nextDrop = controlLaw(nextDrop)
                    return packet
                }
                counters.dropped += 1
                guard let following = next(&queue, now: now) else {
                    isDropping = false
                    return nil
                }
                (packet, isLate) = following
                if isLate { nextDrop = controlLaw(nextDrop) } else { isDropping = false }
            }
        } else if isLate {
            let isMarked = mark(&packet, counters: &counters)
            isDropping = true
            // If the queue last dropped only a short time ago, the drop rate resumes near its earlier value.
            let delta = count - lastCount
            count = delta > 1 && now - nextDrop < Self.interval * 16 ? delta : 1
            nextDrop = controlLaw(now)
            lastCount = count
            if !isMarked {
                counters.dropped += 1
                guard let following = next(&queue, now: now) else { return nil }
                packet = following.packet
            }
        }
        return packet
    }

    /// Returns the next packet, and whether the delay exceeded the target for an interval.
    private mutating func next<Packet>(
        _ queue: inout PacketFIFO<Packet>, now: MonotonicInstant
    ) -> (packet: QueuedPacket<Packet>, isLate: Bool)? {
        guard let packet = queue.popFirst() else {
            firstAbove = nil
            return nil
        }
        if now - packet.enqueued < Self.target || queue.size <= Self.maximumPacketSize {
            firstAbove = nil
            return (packet, false)
        }
        guard let firstAbove else {
            firstAbove = now + Self.interval
            return (packet, false)
        }
        return (packet, now >= firstAbove)
    }

    private func mark<Packet>(_ packet: inout QueuedPacket<Packet>, counters: inout QueueCounters) -> Bool {
        guard packet.ecn != .notCapable else { return false }
        packet.ecn = .congestionExperienced
        counters.marked += 1
        return true
    }

    /// Returns the time of the next drop: intervals shrink with the square root of the number of drops.
    private func controlLaw(_ time: MonotonicInstant) -> MonotonicInstant {
        let interval = Double(Self.interval.nanoseconds) / Double(count).squareRoot()
        return time + .nanoseconds(Int64(clamping: interval))
    }
}

/// A queue managed by CoDel.
struct CoDelQueue<Packet> {
    var packets = PacketFIFO<Packet>()
    private var state = CoDel()

    mutating func dequeue(now: MonotonicInstant, counters: inout QueueCounters) -> QueuedPacket<Packet>? {
        state.dequeue(from: &packets, now: now, counters: &counters)
    }
}

extension CoDelQueue: Sendable where Packet: Sendable {}
