import MediaCore

/// Maps a receiver's clock, as its feedback reports it, to a time line of ours with an arbitrary origin.
///
/// Both clocks run at about the same speed, and the network delays feedback by a few seconds at most. If a reading
/// contradicts this, the receiver's clock was set, or stood still while its machine slept, or the receiver lies. The
/// time line then follows our own clock, or the shortest delay, so that one-way delays do not jump, and no reading can
/// move it out of range.
struct ReceiverTimeline: Sendable {
    /// The format in which a kind of feedback reports the receiver's clock.
    enum Counter: Sendable {
        /// The reference time of transport-wide feedback: 24 bits, 64 ms each unit.
        case referenceTime
        /// The timestamp of reports of RFC 8888: 32 bits, 2⁻¹⁶ s each unit.
        case reportTimestamp
    }

    /// A reading with its place on the time line.
    struct Reading: Sendable {
        fileprivate var count: UInt32
        fileprivate var feedbackTime: MonotonicInstant
        /// The receiver's clock at the reading, on our time line.
        fileprivate(set) var instant: MonotonicInstant
    }

    /// The tolerated difference between the two clocks' times from one reading to the next. Later feedback is on
    /// packets that the sender has forgotten.
    static let tolerance = TransportFeedbackAdapter.maximumAge

    /// No way there and back seems shorter, though the clocks drift apart while the shortest delays are remembered.
    private static let leastRoundTrip = Duration.milliseconds(-5)
    /// The least time for which these are remembered.
    private static let memory = Duration.seconds(10)

    private let counter: Counter
    private var last: Reading?
    /// The shortest recent delays of packets, and of feedback on its way back. The clocks' difference is part of both.
    private var there = WindowedMinimum<Duration>(window: memory)
    private var back = WindowedMinimum<Duration>(window: memory)

    init(counting counter: Counter) {
        self.counter = counter
    }

    /// Places a counter's value, from feedback that came now, without remembering it.
    func reading(_ count: UInt32, now: MonotonicInstant) -> Reading {
        guard let last else { return Reading(count: count, feedbackTime: now, instant: now) }
        let theirs = duration(from: last.count, to: count)
        let ours = now - last.feedbackTime
        let deviation = theirs - ours
        let isPlausible = deviation <= Self.tolerance && deviation >= .zero - Self.tolerance
        return Reading(count: count, feedbackTime: now, instant: last.instant + (isPlausible ? theirs : ours))
    }

    /// Remembers a reading: the next is placed relative to it. Only feedback with news may move the line.
    ///
    /// - Parameters:
    ///   - shortestDelay: The shortest time from sending a packet to its arrival, as the reading has it.
    ///   - newestArrival: The newest arrival, likewise.
    /// - Returns: The correction of both, which is zero unless the way there and back would take less than no time.
    mutating func advance(
        to reading: Reading, shortestDelay: Duration, newestArrival: MonotonicInstant
    ) -> Duration {
        let delayBack = reading.feedbackTime - newestArrival
        var correction = Duration.zero
        if let leastThere = there.value, let leastBack = back.value,
            min(shortestDelay + leastBack, leastThere + delayBack) < Self.leastRoundTrip
        {
            // The time between two reports says less: each waits for its packets, and for its way. An error of the
            // correction beyond the shortest delays would make the next report impossible as well, and so on for ever.
            correction = leastThere - shortestDelay
        }
        there.add(shortestDelay + correction, now: reading.feedbackTime)
        back.add(delayBack - correction, now: reading.feedbackTime)
        var placed = reading
        placed.instant += correction
        last = placed
        return correction
    }

    /// The shorter way around the counter's circle.
    private func duration(from earlier: UInt32, to later: UInt32) -> Duration {
        let difference = Int32(bitPattern: later &- earlier)
        return switch counter {
        case .referenceTime: .milliseconds(64 * Int64((difference << 8) >> 8))
        case .reportTimestamp: .nanoseconds(Int64(difference) * 1_000_000_000 / 65_536)
        }
    }
}
