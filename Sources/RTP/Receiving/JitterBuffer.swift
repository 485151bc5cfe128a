public import MediaCore

/// The receive buffer of a video stream: sorts packets, finds gaps, requests missing packets and gives them up when it
/// is too late.
///
/// Insert arriving packets, then take ready packets and requests, and again at `nextDeadline`. Packets are in a ring by
/// sequence number, which grows with the need up to the configured capacity.
public struct JitterBuffer: Sendable {
    /// The place of one sequence number: its packet, or the state of the gap.
    private struct Slot {
        var packet: RTPPacket?
        /// The arrival of the packet, or the time at which the gap was noticed; nanoseconds.
        var time: Int64 = 0
        /// The time of the packet's next request; nanoseconds.
        var nextRequest: Int64 = .max
        /// The time of the packet's first request; nanoseconds.
        var requested: Int64 = 0
        var requestCount = 0
    }

    /// The nanoseconds for which a gap may be mere reordering, before its packets are requested.
    private static let reorderAllowance: Int64 = 5_000_000

    /// More packets than this are missing where a queue overflows, and not where a link loses some at random.
    private static let fewMissing = 8
    /// The longest time between two requests for a packet of many that are missing, unless a round trip is longer.
    private static let longestRequestInterval: Int64 = 500_000_000

    /// The limits, which hold at once if they change.
    public var configuration: Configuration { didSet { updateDeadline() } }
    public private(set) var statistics = Statistics()

    private var slots: [Slot]
    /// The next sequence number to hand out.
    private var next: Int64 = 0
    /// The highest sequence number received; nil before the first packet.
    private var highest: Int64?
    /// The number of missing packets that are waited for.
    public private(set) var missingCount = 0
    /// The earliest time of a missing packet's request; nanoseconds.
    private var nextRequest: Int64 = .max
    private var roundTripTime: Int64 = 100_000_000
    private var restartDetector = RestartDetector()
    /// The limit of packets that are waited for. No path loses as many: a stream that jumps ahead again and again, by
    /// almost the capacity, would cost thousands of times what its packets do. Then a smaller jump resets the buffer,
    /// too.
    private var gaps = TokenBucket(rate: 50_000, capacity: 16_384)
    /// The limit of places that are searched for packets to request. A stream that lacks every second packet would have
    /// all of them searched for each packet. Then requests come a little later.
    private var searches = TokenBucket(rate: 500_000, capacity: 500_000)
    /// The next time at which `popNext` or `nacksDue` may have a result without another packet; nil for never. It is
    /// stored, so that a read copies nothing else.
    public private(set) var nextDeadline: MonotonicInstant?

    public init(configuration: Configuration = Configuration()) {
        self.configuration = configuration
        slots = Array(repeating: Slot(), count: min(64, Self.ringSize(for: configuration.capacity)))
    }

    /// The number of waiting packets.
    public var count: Int {
        guard let highest else { return 0 }
        return Int(highest - next + 1) - missingCount
    }

    /// Sets the time from a request to its answer, if reports state it. It is limited to 1 ms...5 s. Without it 100 ms
    /// are assumed at first, then the time of answers to requests.
    public mutating func setRoundTripTime(_ duration: Duration) {
        roundTripTime = min(max(duration.nanoseconds, 1_000_000), 5_000_000_000)
        // The patience with a gap depends on it.
        updateDeadline()
    }

    /// Takes an arrived packet.
    ///
    /// - Parameter isRepair: True for a packet that another stream repeats or repairs. It fills a gap or is late, and
    ///   never shows that the sender began anew.
    public mutating func insert(
        _ packet: RTPPacket, isRepair: Bool = false, now: MonotonicInstant
    ) -> InsertResult {
        defer { updateDeadline() }
        statistics.received += 1
        guard let highest else {
            next = Int64(packet.sequenceNumber)
            highest = next
            place(packet, at: next, now: now)
            return .inserted
        }
        let distance = Int16(bitPattern: packet.sequenceNumber &- UInt16(truncatingIfNeeded: highest))
        let sequence = highest &+ Int64(distance)
        if sequence < next {
            let isRestart =
                !isRepair
                && restartDetector.isRestart(
                    packet.sequenceNumber, distanceBehind: next - sequence, configuration: configuration, now: now)
            guard !isRestart else { return restart(with: packet, now: now) }
            statistics.late += 1
            return .late
        }
        guard sequence - next < Int64(configuration.capacity), takesGap(before: sequence, after: highest, now: now)
        else {
            guard isRepair else { return restart(with: packet, now: now) }
            statistics.late += 1
            return .late
        }
        restartDetector.streamContinued(now: now)

        growRing(toHold: sequence)
        if sequence > highest {
            noticeGap((highest + 1)..<sequence, now: now)
            self.highest = sequence
        } else {
            let slot = slots[index(of: sequence)]
            guard slot.packet == nil else {
                statistics.duplicates += 1
                return .duplicate
            }
            missingCount -= 1
            if slot.requestCount > 0 {
                statistics.recovered += 1
                noticeAnswer(after: now.nanoseconds &- slot.requested, requests: slot.requestCount)
            } else {
                statistics.reordered += 1
            }
        }
        place(packet, at: sequence, now: now)
        return .inserted
    }

    /// Returns true if the numbers between the newest packet and this one may be waited for.
    private mutating func takesGap(before sequence: Int64, after highest: Int64, now: MonotonicInstant) -> Bool {
        sequence <= highest + 1 || gaps.take(Double(sequence - highest - 1), now: now)
    }

    /// Returns the next packet in order, unless a gap before it may still be filled. After an abandoned gap, the
    /// sequence numbers jump.
    public mutating func popNext(now: MonotonicInstant) -> ReceivedPacket? {
        guard let highest, next <= highest else { return nil }
        defer { updateDeadline() }
        while next <= highest {
            let index = index(of: next)
            if let packet = slots[index].packet {
                let arrival = MonotonicInstant(nanoseconds: slots[index].time)
                slots[index].packet = nil
                defer { next += 1 }
                return ReceivedPacket(packet: packet, sequence: next, arrival: arrival)
            }
            guard giveUpTime(of: slots[index]) <= now.nanoseconds else { return nil }
            statistics.lost += 1
            missingCount -= 1
            next += 1
        }
        return nil
    }

    /// True if packets wait behind a gap that may still be filled.
    public var isBlocked: Bool {
        guard let highest, next <= highest else { return false }
        return slots[index(of: next)].packet == nil
    }

    /// Returns the waiting packets with the timestamp of one of them, in order up to the marker; nil if one of them is
    /// missing, or if there are more than a limit. Those before the first may be missing.
    public func waitingFrame(with sequenceNumber: UInt16, atMost limit: Int) -> [ReceivedPacket]? {
        guard let highest else { return nil }
        let distance = Int16(bitPattern: sequenceNumber &- UInt16(truncatingIfNeeded: highest))
        var last = highest &+ Int64(distance)
        guard let timestamp = waiting(last)?.packet.timestamp else { return nil }
        var first = last
        while let packet = waiting(last)?.packet, packet.timestamp == timestamp, !packet.marker { last += 1 }
        guard waiting(last)?.packet.timestamp == timestamp else { return nil }
        while waiting(first - 1)?.packet.timestamp == timestamp { first -= 1 }
        guard last - first < Int64(limit) else { return nil }
        return (first...last).compactMap(waiting)
    }

    private func waiting(_ sequence: Int64) -> ReceivedPacket? {
        guard let highest, next <= sequence, sequence <= highest else { return nil }
        let slot = slots[index(of: sequence)]
        return slot.packet.map {
            ReceivedPacket(packet: $0, sequence: sequence, arrival: MonotonicInstant(nanoseconds: slot.time))
        }
    }

    /// Drops all packets before one that waits, and abandons the missing ones.
    public mutating func skip(to sequence: Int64) {
        guard waiting(sequence) != nil else { return }
        defer { updateDeadline() }
        while next < sequence {
            if slots[index(of: next)].packet == nil {
                statistics.lost += 1
                missingCount -= 1
            } else {
                statistics.discarded += 1
            }
            slots[index(of: next)] = Slot()
            next += 1
        }
    }

    /// Returns the sequence numbers to request now, in ascending order. They count as requested.
    ///
    /// A packet is requested when the allowance for reordering is over, then again each 1.2 round trips (20 ms at
    /// least), while the answer can come in time. Where many are missing, it is requested ever later: the queue of the
    /// path has just filled, the round trip is longer than known, and repairs that are sent twice fill it further.
    public mutating func nacksDue(now: MonotonicInstant) -> [UInt16] {
        guard configuration.nackEnabled, missingCount > 0, nextRequest <= now.nanoseconds, let highest else {
            return []
        }
        defer { updateDeadline() }
        guard searches.take(Double(highest - next + 1), now: now) else {
            nextRequest = saturatingSum(now.nanoseconds, Self.reorderAllowance)
            return []
        }
        var due: [UInt16] = []
        var earliest = Int64.max
        let interval = max(roundTripTime + roundTripTime / 5, 20_000_000)
        let doublings = missingCount > Self.fewMissing ? 6 : 0
        for sequence in next...highest {
            let index = index(of: sequence)
            guard slots[index].packet == nil else { continue }
            if slots[index].nextRequest <= now.nanoseconds {
                let deadline = giveUpTime(of: slots[index])
                let isFirst = slots[index].requestCount == 0
                // The first request goes out even if it seems too late: the round-trip time is an estimate.
                if deadline > (isFirst ? now.nanoseconds : saturatingSum(now.nanoseconds, roundTripTime)) {
                    due.append(UInt16(truncatingIfNeeded: sequence))
                    if isFirst { slots[index].requested = now.nanoseconds }
                    let backoff = interval << min(slots[index].requestCount, doublings)
                    slots[index].requestCount += 1
                    slots[index].nextRequest = saturatingSum(
                        now.nanoseconds, max(interval, min(backoff, Self.longestRequestInterval)))
                } else {
                    slots[index].nextRequest = .max
                }
            }
            earliest = min(earliest, slots[index].nextRequest)
        }
        nextRequest = earliest
        statistics.requested += Int64(due.count)
        return due
    }

    private mutating func updateDeadline() {
        guard let highest, next <= highest else {
            nextDeadline = nil
            return
        }
        let first = index(of: next)
        var deadline = slots[first].packet == nil ? giveUpTime(of: slots[first]) : slots[first].time
        if configuration.nackEnabled, missingCount > 0 { deadline = min(deadline, nextRequest) }
        nextDeadline = MonotonicInstant(nanoseconds: deadline)
    }
}

extension JitterBuffer {
    private static func ringSize(for span: Int) -> Int {
        var size = 1
        while size < span { size *= 2 }
        return size
    }

    private func index(of sequence: Int64) -> Int {
        Int(truncatingIfNeeded: sequence) & (slots.count - 1)
    }

    private func saturatingSum(_ time: Int64, _ interval: Int64) -> Int64 {
        let (sum, overflow) = time.addingReportingOverflow(interval)
        return overflow ? .max : sum
    }

    /// The time at which a missing packet is abandoned.
    private func giveUpTime(of slot: Slot) -> Int64 { saturatingSum(slot.time, patience) }

    /// The patience with a gap: four round trips, within a second, if packets can be requested: time for three
    /// requests. A late repair is better than a picture that stands still until the next keyframe.
    private var patience: Int64 {
        let maximum = configuration.maximumDelay.nanoseconds
        return configuration.nackEnabled ? max(maximum, min(4 * roundTripTime, 1_000_000_000)) : maximum
    }

    /// Learns the round-trip time from a packet that came after requests. After several it may answer a later one than
    /// the first: it counts less, and is all that is known where each is repeated before its answer can come.
    private mutating func noticeAnswer(after nanoseconds: Int64, requests: Int) {
        let measured = min(max(nanoseconds, 1_000_000), 5_000_000_000)
        roundTripTime += (measured - roundTripTime) / (requests == 1 ? 4 : 64)
    }

    private mutating func place(_ packet: RTPPacket, at sequence: Int64, now: MonotonicInstant) {
        let index = index(of: sequence)
        slots[index].packet = packet
        slots[index].time = now.nanoseconds
    }

    private mutating func noticeGap(_ gap: Range<Int64>, now: MonotonicInstant) {
        guard !gap.isEmpty else { return }
        let request = saturatingSum(now.nanoseconds, Self.reorderAllowance)
        for sequence in gap {
            slots[index(of: sequence)] = Slot(time: now.nanoseconds, nextRequest: request)
        }
        missingCount += gap.count
        nextRequest = min(nextRequest, request)
    }

    /// Doubles the ring until it spans from `next` to `sequence`.
    private mutating func growRing(toHold sequence: Int64) {
        let span = Int(sequence - next) + 1
        guard span > slots.count, let highest else { return }
        var grown = Array(repeating: Slot(), count: Self.ringSize(for: span))
        if next <= highest {
            for sequence in next...highest {
                grown[Int(truncatingIfNeeded: sequence) & (grown.count - 1)] = slots[index(of: sequence)]
            }
        }
        slots = grown
    }

    /// Empties the buffer and restarts with `packet`, further on in the unwrapped sequence.
    private mutating func restart(with packet: RTPPacket, now: MonotonicInstant) -> InsertResult {
        statistics.resets += 1
        statistics.discarded += Int64(count)
        let last = highest ?? 0
        // Only these places are in use. A ring that has grown is not walked through for each stray packet.
        if next <= last {
            for sequence in next...last { slots[index(of: sequence)] = Slot() }
        }
        // Never the direct successor: later code must see that something is missing in between.
        let distance = Int64(packet.sequenceNumber &- UInt16(truncatingIfNeeded: last))
        next = last &+ (distance > 1 ? distance : distance + 65536)
        highest = next
        missingCount = 0
        nextRequest = .max
        restartDetector = RestartDetector()
        restartDetector.streamContinued(now: now)
        place(packet, at: next, now: now)
        return .overflow
    }
}

/// A packet in its place in the stream.
public struct ReceivedPacket: Hashable, Sendable {
    public var packet: RTPPacket
    /// The sequence number without wrapping. It always grows; a step of more than one means loss, or a restart of the
    /// sender.
    public var sequence: Int64
    public var arrival: MonotonicInstant
}
