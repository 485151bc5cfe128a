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

    /// A packet, and what of the one ahead of it is left, are no queue.
    private static let packetsWithoutQueue = 1.5
    /// The base is seen again by what is later by this part of a packet's time.
    private static let seenPart = 0.25

    /// In times of the first one.
    private static let longestBelief = 2

    private let parameters: ConfrelayParameters
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
    /// When the lowest delay was last seen, or nearly.
    private var lastSeen = MonotonicInstant.zero
    /// When sending last paused to see it.
    private var lastProbe: MonotonicInstant?
    /// How long others' queue is believed in before a pause shows again whether it is theirs.
    private var belief: Duration

    /// How long the queue is that others keep filled, as far as delay tells, in seconds; nil without one.
    private(set) var competingDelay: Double?

    /// Whether others keep the queue filled just now.
    private(set) var isStanding = false

    /// The delay without others' queue, as far as it was ever seen, in seconds.
    var withoutCompetition: Double? { empty ?? value }

    /// In seconds; nil before the first packet.
    var value: Double? { lowest.value }

    init(parameters: ConfrelayParameters) {
        self.parameters = parameters
        standingDelay = parameters.standingDelay.seconds
        standingTime = parameters.standingTime
        variation = parameters.routeVariation.seconds
        tolerance = parameters.baseDelayTolerance.seconds
        belief = parameters.competitionBelief
        longestUnseen = parameters.baseDelayWindow * min(parameters.baseDelayAge, 1)
        lowest = WindowedMinimum(window: parameters.baseDelayWindow)
    }

    /// A packet arrived after this one-way delay.
    ///
    /// - Parameters:
    ///   - jitter: by how much, in seconds, delays differ by themselves.
    ///   - packetTime: how long the path takes for a full packet, in seconds: on a slow path small packets and large
    ///     ones differ by so much without any queue.
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

    /// Nothing arrived for a while, so that what arrives next says nothing of a standing queue.
    mutating func interrupted() {
        standing = nil
        isStanding = empty != nil
    }

    // MARK: Seeing the empty path

    /// Whether the empty path was seen since then.
    func wasSeen(since time: MonotonicInstant) -> Bool { lastSeen >= time }

    /// Whether sending must pause to see the empty path: it is about to be forgotten, or a queue stands of which it is
    /// not known whether others keep it filled. That is asked again while they are believed to: when they have gone,
    /// our own queue may stand in place of theirs.
    func needsProbe(now: MonotonicInstant) -> Bool {
        guard value != nil else { return false }
        if empty != nil { return !wasProbed(since: now - belief) }
        if let standing, now - standing.since >= standingTime { return !wasProbed(since: standing.since) }
        return now - lastSeen > longestUnseen && !wasProbed(since: now - longestUnseen)
    }

    /// Sending paused long enough.
    mutating func probed(now: MonotonicInstant) {
        lastProbe = now
        guard empty != nil else { return }
        belief = min(belief * 2, parameters.competitionBelief * Self.longestBelief)
    }

    private func wasProbed(since time: MonotonicInstant) -> Bool {
        lastProbe.map { $0 > time } ?? false
    }
}
