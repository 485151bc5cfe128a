import MediaCore

/// The one-way delay of an empty path, from the sender's clock to the receiver's: the lowest of the last while.
///
/// The clocks' difference is part of it, and a lowest value that ages follows their drift. A delay that stays high
/// whatever is sent becomes the new base: a longer route, or a queue that others keep filled.
struct BaseDelay: Sendable {
    /// A delay that varies by no more than this, in seconds, while it is high is that of a longer route.
    static let variation = 0.02
    /// A new base that stays for so long, in seconds, is no others' queue.
    static let calmTime = 10.0

    private let standingTime: Double
    private let standingDelay: Double
    private let window: Duration
    private var lowest: WindowedMinimum<Double>
    /// Since when no packet came without a queue, and the lowest delay since.
    private var standing: (since: MonotonicInstant, first: Double, lowest: Double, highest: Double)?
    /// The base before a queue was found to stand, until it is seen again or the new base proves to be one.
    private var empty: Double?
    private var calmSince: MonotonicInstant?

    /// How long the queue is that others keep filled, as far as delay tells, in seconds; nil without one.
    private(set) var competingDelay: Double?

    /// Whether others keep the queue filled.
    private(set) var isStanding = false

    /// In seconds; nil before the first packet.
    var value: Double? { lowest.value }

    init(parameters: ConfrelayParameters) {
        standingTime = parameters.standingTime.seconds
        standingDelay = parameters.standingDelay.seconds
        window = parameters.baseDelayWindow
        lowest = WindowedMinimum(window: window)
    }

    /// A packet arrived after this one-way delay.
    ///
    /// - Parameter jitter: by how much, in seconds, delays differ by themselves.
    mutating func add(_ delay: Double, jitter: Double, now: MonotonicInstant) {
        lowest.add(delay, now: now)
        defer { competingDelay = empty.map { delay - $0 } }
        if let empty, delay - empty < standingDelay { self.empty = nil }
        guard let value, delay - value >= standingDelay else {
            standing = nil
            isStanding = false
            // A queue that others fill does not stay at one length.
            let since = calmSince ?? now
            calmSince = since
            if (now - since).seconds > Self.calmTime { empty = nil }
            return
        }
        calmSince = nil
        var current = standing ?? (now, delay, delay, delay)
        // A queue that gets shorter is ours, and drains.
        if delay < current.first - Self.variation { current = (now, delay, delay, delay) }
        current.lowest = min(current.lowest, delay)
        current.highest = max(current.highest, delay)
        standing = current
        let time = (now - current.since).seconds
        isStanding = empty != nil
        guard time >= standingTime else { return }
        if current.highest - current.lowest > Self.variation + 2 * jitter { empty = empty ?? value }
        lowest = WindowedMinimum(window: window)
        lowest.add(current.lowest, now: now)
        standing = nil
    }

    /// Nothing arrived for a while, so that what arrives next says nothing of a standing queue.
    mutating func interrupted() {
        standing = nil
        isStanding = empty != nil
    }
}
