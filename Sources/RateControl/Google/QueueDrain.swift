import MediaCore

/// Empties a queue that overuse or a probe has built up: while there is one, the target stays so far below what arrives that the
/// queue is gone in about a second.
///
/// The trend of delay alone does not tell how long the queue is: at 85 % of the capacity a queue of 600 ms, as it builds
/// up when the capacity falls to a fifth, would stay for four seconds. The queue is measured as the delay above the
/// lowest of the last half minute. Where that is not a queue of ours (the path became longer, or others fill it), the
/// drain ends after a while and the flow goes on as without it.
struct QueueDrain: Sendable {
    /// The time in which a queue is to be emptied.
    static let drainTime = 1.0
    /// At least this part of what arrives is sent on.
    static let minimumFactor = 0.5
    /// Shorter queues are left to the delay-based rate.
    static let minimumQueue = Duration.milliseconds(60)
    static let maximumDuration = Duration.seconds(3)
    /// A queue longer than this that stays so long is drained whatever the trend says.
    static let standingQueue = Duration.milliseconds(100)
    static let standingTime = Duration.milliseconds(500)
    static let baseWindow = Duration.seconds(15)

    /// One-way delays, on clocks of different origins.
    private var base = WindowedMinimum<Duration>(window: baseWindow)
    private var standingSince: MonotonicInstant?
    private var start: MonotonicInstant?
    private var isExhausted = false

    /// How much longer than the lowest the last report's delay is.
    private(set) var queue = Duration.zero
    /// The bound on the target; nil while nothing is drained.
    private(set) var bound: BitRate?

    /// Takes a report's lowest one-way delay, what arrives, and what delay says.
    mutating func update(
        oneWayDelay: Duration, acknowledged: BitRate?, networkState: ControllerSnapshot.NetworkState,
        now: MonotonicInstant
    ) {
        base.add(oneWayDelay, now: now)
        queue = oneWayDelay - (base.value ?? oneWayDelay)
        standingSince = queue > Self.standingQueue ? standingSince ?? now : nil
        let isStanding = standingSince.map { now - $0 >= Self.standingTime } ?? false
        let isOverused = networkState == .overusing && queue > Self.minimumQueue
        if isOverused || isStanding, start == nil, !isExhausted { start = now }
        guard let start, let acknowledged, queue > Self.minimumQueue, now - start < Self.maximumDuration else {
            // One drain for each queue: the next begins when this one is gone.
            isExhausted = queue > Self.minimumQueue && (isExhausted || self.start != nil)
            self.start = nil
            bound = nil
            return
        }
        bound = acknowledged * max(1 - queue.seconds / Self.drainTime, Self.minimumFactor)
    }
}
