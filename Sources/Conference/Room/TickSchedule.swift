import MediaCore

/// When a periodic tick is due. Ticks keep their phase, unless they are told to move it little by little; after a long
/// stall the missed ones are skipped, not made up for.
///
/// While there is nothing to do, ticks can pause: the next one is then due some ticks later, unless it is woken before.
struct TickSchedule {
    struct Tick: Hashable {
        var index: Int64
        var time: MonotonicInstant
        /// The number of ticks before it that were left out on purpose.
        var leftOut: Int64
    }

    private var origin: MonotonicInstant
    private var frequency: Int32
    /// The tick at `origin`.
    private var originIndex: Int64 = 0
    /// The first tick that was neither taken nor skipped.
    private(set) var index: Int64 = 0
    /// The number of ticks to leave out before the next; nil while ticks are not paused.
    private var pausedTicks: Int64?

    /// Ticks `frequency` times a second, the first at `origin`.
    init(origin: MonotonicInstant, frequency: Int) {
        self.origin = origin
        self.frequency = Int32(clamping: max(1, frequency))
    }

    var next: MonotonicInstant { time(of: index + (pausedTicks ?? 0)) }

    /// The time of the next tick if ticks are woken now.
    var nextAwake: MonotonicInstant { time(of: index) }

    var isPaused: Bool { pausedTicks != nil }

    /// The time from one tick to the next, rounded down to a nanosecond.
    var interval: Duration { .nanoseconds(1_000_000_000 / Int64(frequency)) }

    /// The most by which a tick's distance from the one before differs from the interval.
    static let greatestShift = Duration.microseconds(500)

    /// Moves the ticks to come by a time, or by as much of it as one tick may move.
    mutating func shift(by wanted: Duration) {
        origin += min(max(wanted, .zero - Self.greatestShift), Self.greatestShift)
    }

    var ticksPerSecond: Int { Int(frequency) }

    /// Ticks more or less often, from the next tick on.
    mutating func setFrequency(_ wanted: Int) {
        let wanted = Int32(clamping: max(1, wanted))
        guard wanted != frequency else { return }
        (origin, originIndex) = (nextAwake, index)
        frequency = wanted
        if pausedTicks != nil { pausedTicks = 0 }
    }

    /// Leaves out ticks until the first one that comes `duration` after the last one, or later.
    mutating func pause(for duration: Duration) {
        let count = max(1, (duration.nanoseconds * Int64(frequency) + 999_999_999) / 1_000_000_000)
        pausedTicks = count - 1
    }

    /// Ends a pause: the newest tick is due at once unless it was taken.
    mutating func wake() {
        if pausedTicks != nil { pausedTicks = 0 }
    }

    /// Takes the next tick if it is due. When more than `tolerance` ticks were missed, goes on from the newest; so it
    /// does after a pause.
    mutating func takeTick(tolerance: Int64, now: MonotonicInstant) -> Tick? {
        guard now >= next else { return nil }
        let newest = originIndex + MediaTime(now - origin, timescale: frequency).value
        let first = index
        if newest - index > (pausedTicks == nil ? tolerance : 0) { index = newest }
        defer {
            index += 1
            pausedTicks = nil
        }
        return Tick(index: index, time: nextAwake, leftOut: pausedTicks == nil ? 0 : index - first)
    }

    private func time(of index: Int64) -> MonotonicInstant {
        origin + MediaTime(value: index - originIndex, timescale: frequency).duration
    }
}
