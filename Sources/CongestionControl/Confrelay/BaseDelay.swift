import MediaCore

/// The one-way delay of an empty path, from the sender's clock to the receiver's: the lowest of the last while.
///
/// The clocks' difference is part of it, and a lowest value that ages follows their drift. A delay that stays high even
/// when sending paused becomes the new base: a longer route, or a queue that others keep filled.
struct BaseDelay: Sendable {
    /// A delay that stays above the base.
    private struct Standing {
        var since: MonotonicInstant
        var first: Double
        var lowest: Double
        var highest: Double
    }

    /// A wait of up to this many packets is no queue: the packet itself and the rest of the one ahead of it.
    private static let packetsWithoutQueue = 1.5
    /// The base counts as seen again by a delay that exceeds it by this part of a packet's time.
    private static let seenPart = 0.25

    /// The longest belief, as a multiple of the first one.
    private static let longestBelief = 2

    private let shared: SharedParameters
    private var parameters: ConfrelayParameters { shared.values }
    private let standingDelay: Double
    private let standingTime: Duration
    private let variation: Double
    private let tolerance: Double
    private let longestUnseen: Duration
    private var lowest: WindowedMinimum<Double>
    /// Since when no packet came without a queue; nil while one did just now.
    private var standing: Standing?
    /// The base before a queue was found to stand, until it is seen again or the new base proves to be one.
    private var empty: Double?
    private var calmSince: MonotonicInstant?
    /// The time at which the lowest delay, or nearly the lowest, was last seen.
    private var lastSeen = MonotonicInstant.zero
    /// The time of the last pause that looked for the base.
    private var lastProbe: MonotonicInstant?
    /// The time for which a queue of others is assumed, until a pause checks it again.
    private var belief: Duration

    /// The length of the queue that others keep filled, as far as delay shows, in seconds; nil without one.
    private(set) var competingDelay: Double?

    /// True while others keep the queue filled.
    private(set) var isStanding = false

    /// The delay without others' queue, as far as it was ever seen, in seconds.
    var withoutCompetition: Double? { empty ?? value }

    /// The value in seconds; nil before the first packet.
    var value: Double? { lowest.value }

    init(_ shared: SharedParameters) {
        let parameters = shared.values
        self.shared = shared
        standingDelay = parameters.standingDelay.seconds
        standingTime = parameters.standingTime
        variation = parameters.routeVariation.seconds
        tolerance = parameters.baseDelayTolerance.seconds
        belief = parameters.competitionBelief
        longestUnseen = parameters.baseDelayWindow * min(parameters.baseDelayAge, 1)
        lowest = WindowedMinimum(window: parameters.baseDelayWindow)
    }

    /// Takes the one-way delay of a packet.
    ///
    /// - Parameters:
    ///   - jitter: The variation of delays without queues, in seconds.
    ///   - packetTime: The path's time for a full packet, in seconds: on a slow path small and large packets differ by
    ///     this without any queue.
    mutating func add(_ delay: Double, jitter: Double, packetTime: Double = 0, now: MonotonicInstant) {
        let standingDelay = max(standingDelay, packetTime * Self.packetsWithoutQueue)
        let tolerance = max(tolerance, packetTime * Self.seenPart)
        lowest.add(delay, now: now)
        defer { competingDelay = empty.map { delay - $0 } }
        if let empty, delay - empty < standingDelay { self.empty = nil }
        guard let value else { return }
        if delay <= value + tolerance { lastSeen = now }
        guard delay - value >= standingDelay else {
            seeNoQueue(now: now)
            return
        }
        calmSince = nil
        var current = standing ?? Standing(since: now, first: delay, lowest: delay, highest: delay)
        // A queue that gets shorter is ours, and drains.
        if delay < current.first - variation {
            current = Standing(since: now, first: delay, lowest: delay, highest: delay)
        }
        current.lowest = min(current.lowest, delay)
        current.highest = max(current.highest, delay)
        standing = current
        isStanding = empty != nil
        // A queue of several flows that all yield to delay may stand as well, until they pause.
        guard now - current.since >= standingTime, empty != nil || wasProbed(since: current.since) else { return }
        if current.highest - current.lowest > variation + 2 * jitter, empty == nil {
            empty = value
            belief = parameters.competitionBelief
        }
        lowest = WindowedMinimum(window: parameters.baseDelayWindow)
        lowest.add(current.lowest, now: now)
        lastSeen = now
        standing = nil
    }

    private mutating func seeNoQueue(now: MonotonicInstant) {
        standing = nil
        isStanding = false
        // A queue that others fill does not stay at one length.
        let since = calmSince ?? now
        calmSince = since
        if now - since > parameters.calmTime { empty = nil }
    }

    /// Records that nothing arrived for a while, so that the next arrivals do not prove a standing queue.
    mutating func interrupted() {
        standing = nil
        isStanding = empty != nil
    }

    // MARK: Seeing the empty path

    /// Returns true if the empty path was seen since a time.
    func wasSeen(since time: MonotonicInstant) -> Bool { lastSeen >= time }

    /// Returns true if sending must pause to see the empty path: the base is about to be forgotten, or it is unknown
    /// whether others fill a standing queue. While others are assumed, the question is asked again: when they have
    /// gone, our own queue may replace theirs.
    func needsProbe(now: MonotonicInstant) -> Bool {
        guard value != nil else { return false }
        if empty != nil { return !wasProbed(since: now - belief) }
        if let standing, now - standing.since >= standingTime { return !wasProbed(since: standing.since) }
        return now - lastSeen > longestUnseen && !wasProbed(since: now - longestUnseen)
    }

    /// Notes that sending has paused long enough.
    mutating func probed(now: MonotonicInstant) {
        lastProbe = now
        guard empty != nil else { return }
        belief = min(belief * 2, parameters.competitionBelief * Self.longestBelief)
    }

    private func wasProbed(since time: MonotonicInstant) -> Bool {
        lastProbe.map { $0 > time } ?? false
    }
}
