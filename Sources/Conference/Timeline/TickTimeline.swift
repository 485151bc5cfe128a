import MediaCore

/// The last minute of a room's video ticks.
struct TickTimeline: Sendable {
    struct Bucket: Sendable {
        /// Ticks at which the room looked at its sources.
        var taken: UInt16 = 0
        /// Ticks that never were: the loop came to the room too late.
        var skipped: UInt16 = 0
        /// Ticks left out because the composition before was not done.
        var missed: UInt16 = 0
        /// Compositions done.
        var composed: UInt16 = 0
        /// Ticks among them whose pictures came after the next tick was due.
        var late: UInt16 = 0
        var rendered: UInt16 = 0
        var reused: UInt16 = 0
        var passedThrough: UInt16 = 0
        /// Pictures that stood in for ones that could not be composed.
        var fellBack: UInt16 = 0
        /// The longest time from a tick until its pictures were there, in microseconds.
        var slowest: UInt32 = 0
    }

    private(set) var ring = TimelineRing(empty: Bucket())
    private var missed = CounterReading()
    private var lastIndex: Int64?

    /// Records a tick.
    /// - Parameters:
    ///   - index: The tick's number; numbers between it and the one before were skipped, or left out on purpose.
    ///   - leftOut: How many before it were left out because nothing had changed.
    ///   - missedTicks: How many the room has left out so far.
    mutating func observe(index: Int64, leftOut: Int64 = 0, missedTicks: UInt64, now: MonotonicInstant) {
        let skipped = lastIndex.map { UInt64(max(0, index - $0 - 1 - leftOut)) } ?? 0
        lastIndex = index
        let growth = missed.advance(to: missedTicks)
        ring.update(TimelineScale.bucket(at: now)) { bucket in
            bucket.taken.count(1)
            bucket.skipped.count(skipped)
            bucket.missed.count(growth)
        }
    }

    /// Records a tick's finished pictures.
    mutating func observe(_ work: CompositionWork, interval: Duration, now: MonotonicInstant) {
        let latency = max(now - work.captureTime, .zero)
        ring.update(TimelineScale.bucket(at: now)) { bucket in
            bucket.composed.count(1)
            if latency > interval { bucket.late.count(1) }
            bucket.rendered.count(UInt64(work.rendered))
            bucket.reused.count(UInt64(work.reused))
            bucket.passedThrough.count(UInt64(work.passedThrough))
            bucket.fellBack.count(UInt64(work.fellBack))
            bucket.slowest = max(bucket.slowest, UInt32(clamping: latency.nanoseconds / 1000))
        }
    }
}

/// The work of making a tick's pictures.
struct CompositionWork: Sendable {
    var captureTime: MonotonicInstant
    var rendered = 0
    /// Pictures handed out again because nothing had changed.
    var reused = 0
    /// Pictures of sources handed out as they are.
    var passedThrough = 0
    /// Pictures from before, or without a source, in place of ones that could not be rendered.
    var fellBack = 0
}
