import MediaCore

/// The schedule of a periodic tick. Ticks keep their phase; after a long stall the missed ones are skipped, not made up
/// for.
///
/// While there is nothing to do, ticks can rest: the next one is then due some ticks later, unless it is woken before.
struct TickSchedule {
    /// A tick that is due.
    struct Tick: Hashable {
        var index: Int64
        var time: MonotonicInstant
        /// How many ticks before it were left out on purpose.
        var rested: Int64
    }

    private let origin: MonotonicInstant
    private let frequency: Int32
    /// The first tick that was neither taken nor skipped.
    private(set) var index: Int64 = 0
    /// How many ticks are to be left out before the next; nil while ticks do not rest.
    private var rest: Int64?

    /// Ticks `frequency` times a second, the first at `origin`.
    init(origin: MonotonicInstant, frequency: Int) {
        self.origin = origin
        self.frequency = Int32(clamping: max(1, frequency))
    }

    /// The time of the next tick.
    var next: MonotonicInstant { time(of: index + (rest ?? 0)) }

    /// When it is due if ticks are woken now.
    var nextAwake: MonotonicInstant { time(of: index) }

    var isResting: Bool { rest != nil }

    /// The time from one tick to the next, rounded down to a nanosecond.
    var interval: Duration { .nanoseconds(1_000_000_000 / Int64(frequency)) }

    /// Leaves out ticks until the next one whose index is a multiple of `divisor`, `duration` after the last one or
    /// later.
    mutating func rest(for duration: Duration, divisor: Int = 1) {
        let count = max(1, (duration.nanoseconds * Int64(frequency) + 999_999_999) / 1_000_000_000)
        let divisor = Int64(max(1, divisor))
        let wanted = (index - 1 + count + divisor - 1) / divisor * divisor
        rest = max(0, wanted - index)
    }

    /// Ends a rest: the newest tick is due at once unless it was taken.
    mutating func wake() {
        if rest != nil { rest = 0 }
    }

    /// Takes the next tick if it is due. When more than `tolerance` ticks were missed, goes on from the newest; so it
    /// does after a rest.
    mutating func takeTick(tolerance: Int64, now: MonotonicInstant) -> Tick? {
        guard now >= next else { return nil }
        let newest = MediaTime(now - origin, timescale: frequency).value
        let first = index
        if newest - index > (rest == nil ? tolerance : 0) { index = newest }
        defer {
            index += 1
            rest = nil
        }
        return Tick(index: index, time: nextAwake, rested: rest == nil ? 0 : index - first)
    }

    private func time(of index: Int64) -> MonotonicInstant {
        origin + MediaTime(value: index, timescale: frequency).duration
    }
}
