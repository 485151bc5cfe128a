import MediaCore

/// The one-way delay of an empty path, from the sender's clock to the receiver's: the lowest of the last while.
///
/// The clocks' difference is part of it, and a lowest value that ages follows their drift. A delay that stays high
/// whatever is sent becomes the new base: a longer route, or a queue that others keep filled.
struct BaseDelay: Sendable {
    private let standingTime: Double
    private let standingDelay: Double
    private let window: Duration
    private var lowest: WindowedMinimum<Double>
    /// Since when no packet came without a queue, and the lowest delay since.
    private var standing: (since: MonotonicInstant, lowest: Double)?

    /// In seconds; nil before the first packet.
    var value: Double? { lowest.value }

    init(parameters: ConfrelayParameters) {
        standingTime = parameters.standingTime.seconds
        standingDelay = parameters.standingDelay.seconds
        window = parameters.baseDelayWindow
        lowest = WindowedMinimum(window: window)
    }

    /// A packet arrived after this one-way delay.
    mutating func add(_ delay: Double, now: MonotonicInstant) {
        lowest.add(delay, now: now)
        guard let value, delay - value >= standingDelay else {
            standing = nil
            return
        }
        let current = standing.map { ($0.since, min($0.lowest, delay)) } ?? (now, delay)
        standing = current
        guard (now - current.0).seconds >= standingTime else { return }
        lowest = WindowedMinimum(window: window)
        lowest.add(current.1, now: now)
        standing = nil
    }

    /// Nothing arrived for a while, so that what arrives next says nothing of a standing queue.
    mutating func interrupted() {
        standing = nil
    }
}
