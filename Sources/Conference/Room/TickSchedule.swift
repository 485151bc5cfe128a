import MediaCore

/// The schedule of a periodic tick. Ticks keep their phase; after a long stall the missed ones are skipped, not made up
/// for.
struct TickSchedule {
    private let origin: MonotonicInstant
    private let frequency: Int32
    private(set) var index: Int64 = 0

    /// Ticks `frequency` times a second, the first at `origin`.
    init(origin: MonotonicInstant, frequency: Int) {
        self.origin = origin
        self.frequency = Int32(clamping: max(1, frequency))
    }

    /// The time of the next tick.
    var next: MonotonicInstant { time(of: index) }

    /// The time from one tick to the next, rounded down to a nanosecond.
    var interval: Duration { .nanoseconds(1_000_000_000 / Int64(frequency)) }

    /// Takes the next tick if it is due, and returns its index and time. If more than `tolerance` ticks were missed, it
    /// continues with the newest.
    mutating func takeTick(tolerance: Int64, now: MonotonicInstant) -> (index: Int64, time: MonotonicInstant)? {
        guard now >= next else { return nil }
        let newest = MediaTime(now - origin, timescale: frequency).value
        if newest - index > tolerance { index = newest }
        defer { index += 1 }
        return (index, next)
    }

    private func time(of index: Int64) -> MonotonicInstant {
        origin + MediaTime(value: index, timescale: frequency).duration
    }
}
