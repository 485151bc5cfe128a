public import MediaCore
internal import NIOCore
public import RTP

/// The receiver side of transport-wide feedback (draft-holmer-rmcat-transport-wide-cc-extensions-01): remembers
/// arrivals and makes feedback packets.
///
/// A packet that arrives after younger ones were reported is reported in the next feedback, together with its
/// successors, so that the sender learns that it was late and not lost.
public struct TransportFeedbackRecorder: Sendable {
    /// The largest number of sequence numbers in a feedback packet, which keeps it well below a network packet's size.
    public static let maximumStatusCount = 400
    /// The number of remembered sequence numbers; a larger jump starts again.
    public static let window = 4096
    /// The time for which reported arrivals are remembered.
    static let historyDuration = Duration.milliseconds(500)
    /// The unit of receive deltas: 250 µs.
    static let tick: Int64 = 250_000
    /// The reference time counts 64 ms.
    static let ticksPerReference: Int64 = 256

    /// The SSRC that the feedback is sent from.
    public var senderSSRC: UInt32
    /// The time between two feedback packets.
    public var interval: Duration { didSet { updateFeedbackTime() } }
    /// The time of the next feedback; `distantFuture` while there is nothing to report. It is stored, so that a read
    /// copies nothing else.
    public private(set) var nextFeedbackTime = MonotonicInstant.distantFuture

    /// Arrivals in ticks; the element `i` belongs to the sequence number `firstSequence + i`.
    private var arrivals = CircularBuffer<Int64?>()
    private var firstSequence: Int64 = 0
    /// The first sequence number that the next feedback speaks of.
    private var nextToReport: Int64 = 0
    private var unwrapper = SequenceUnwrapper()
    /// The limit of numbers that are remembered as missing. No path loses as many: numbers that jump ahead again and
    /// again, by almost as much as is remembered, would cost thousands of times what their packets do. Then a smaller
    /// jump starts again, too.
    private var gaps = TokenBucket(rate: 100_000, capacity: 65_536)
    private var restartRun = RestartRun()
    private var hasNews = false
    private var lastFeedbackTime: MonotonicInstant?
    private var firstUnreportedTime = MonotonicInstant.zero
    private var feedbackCount: UInt8 = 0

    public init(senderSSRC: UInt32, interval: Duration = .milliseconds(50)) {
        self.senderSSRC = senderSSRC
        self.interval = interval
    }

    /// Takes a packet with this transport-wide sequence number.
    ///
    /// - Parameter arrival: The arrival, if it was before now.
    public mutating func received(
        transportSequence: UInt16, arrival: MonotonicInstant? = nil, now: MonotonicInstant
    ) {
        let sequence = unwrapper.unwrap(transportSequence)
        let end = firstSequence + Int64(arrivals.count)
        if arrivals.isEmpty || sequence >= end + Int64(Self.window)
            || (sequence > end && !gaps.take(Double(sequence - end), now: now))
        {
            start(at: sequence)
        } else if sequence >= firstSequence {
            restartRun.end()
        } else if lastFeedbackTime == nil, end - sequence <= Int64(Self.window) {
            // Before the first report it may be an early packet out of order.
            for _ in sequence..<firstSequence { arrivals.prepend(nil) }
            firstSequence = sequence
        } else {
            guard restartRun.isRestart(transportSequence) else { return }
            start(at: sequence)
        }
        let index = Int(sequence - firstSequence)
        while arrivals.count <= index { arrivals.append(nil) }
        guard arrivals[offset: index] == nil else { return }
        arrivals[offset: index] = Self.floorDivide((arrival ?? now).nanoseconds, Self.tick)
        if !hasNews {
            firstUnreportedTime = now
            hasNews = true
            updateFeedbackTime()
        }
        nextToReport = min(nextToReport, sequence)
        while arrivals.count > Self.window { removeFirst() }
    }

    private mutating func start(at sequence: Int64) {
        arrivals.removeAll(keepingCapacity: true)
        firstSequence = sequence
        nextToReport = sequence
        restartRun.end()
    }

    private mutating func updateFeedbackTime() {
        guard hasNews else {
            nextFeedbackTime = .distantFuture
            return
        }
        nextFeedbackTime = max((lastFeedbackTime.map { $0 + interval }) ?? firstUnreportedTime, firstUnreportedTime)
    }

    /// Makes feedback on all packets that were not reported yet: several feedback packets if there are many, or if
    /// arrivals are far apart.
    public mutating func makeFeedback(mediaSSRC: UInt32, now: MonotonicInstant) -> [TransportFeedback] {
        guard hasNews else { return [] }
        hasNews = false
        lastFeedbackTime = now
        updateFeedbackTime()
        var feedback: [TransportFeedback] = []
        let end = firstSequence + Int64(arrivals.count)
        var next = max(nextToReport, firstSequence)
        while next < end {
            feedback.append(makePacket(from: &next, end: end, mediaSSRC: mediaSSRC, now: now))
        }
        nextToReport = end
        forgetOld(now: now)
        return feedback
    }

    /// Makes one feedback packet from `next` on, and moves `next` behind it.
    private mutating func makePacket(
        from next: inout Int64, end: Int64, mediaSSRC: UInt32, now: MonotonicInstant
    ) -> TransportFeedback {
        let start = next
        var reference: Int64?
        var lastTick: Int64 = 0
        var packets: [PacketStatus] = []
        packets.reserveCapacity(min(Int(end - start), Self.maximumStatusCount))
        while next < end, packets.count < Self.maximumStatusCount {
            let sequence = UInt16(truncatingIfNeeded: next)
            guard let tick = arrivals[offset: Int(next - firstSequence)] else {
                packets.append(PacketStatus(sequence: sequence, receiveDelta: nil))
                next += 1
                continue
            }
            if reference == nil {
                let units = Self.floorDivide(tick, Self.ticksPerReference)
                reference = units
                lastTick = units * Self.ticksPerReference
            }
            let delta = tick - lastTick
            // A delta has 16 bits, signed: a larger one goes into a packet of its own.
            guard delta >= Int64(Int16.min), delta <= Int64(Int16.max) else { break }
            packets.append(PacketStatus(sequence: sequence, receiveDelta: .nanoseconds(delta * Self.tick)))
            lastTick = tick
            next += 1
        }
        let nowReference = Self.floorDivide(now.nanoseconds, Self.tick * Self.ticksPerReference)
        defer { feedbackCount &+= 1 }
        return TransportFeedback(
            senderSSRC: senderSSRC, mediaSSRC: mediaSSRC, baseSequence: UInt16(truncatingIfNeeded: start),
            referenceTime: (Int32(truncatingIfNeeded: reference ?? nowReference) << 8) >> 8,
            feedbackCount: feedbackCount,
            packets: packets)
    }

    /// Drops old reported arrivals. A missing packet is as old as its successor.
    private mutating func forgetOld(now: MonotonicInstant) {
        let oldest = Self.floorDivide((now - Self.historyDuration).nanoseconds, Self.tick)
        while firstSequence < nextToReport, let index = arrivals.firstIndex(where: { $0 != nil }),
            let arrival = arrivals[index], arrival < oldest
        {
            let count = arrivals.distance(from: arrivals.startIndex, to: index) + 1
            arrivals.removeFirst(count)
            firstSequence += Int64(count)
        }
        nextToReport = max(nextToReport, firstSequence)
    }

    private mutating func removeFirst() {
        arrivals.removeFirst()
        firstSequence += 1
        nextToReport = max(nextToReport, firstSequence)
    }

    private static func floorDivide(_ value: Int64, _ divisor: Int64) -> Int64 {
        let quotient = value / divisor
        return value % divisor < 0 ? quotient - 1 : quotient
    }
}
