import MediaCore

/// Competes with flows that fill the queue whatever its length, and that would starve a flow that yields to delay.
///
/// If the queue does not drain although sending paused, others keep it filled. Then the rate follows losses as TCP's
/// does, growing steadily and falling at each congestion, until the queue has been seen empty again.
struct CompetingTraffic: Sendable {
    /// The limit of the rate, as a multiple of our estimated capacity.
    private static let most = 2.0

    private let growth: BitRate
    private let relativeGrowth: Double
    private let backoff: Double
    private let interval: Duration

    /// The rate that is kept whatever delay says; nil without competition.
    private(set) var rate: BitRate?
    private var lastUpdate: MonotonicInstant?
    private var lastBackoff: MonotonicInstant?

    init(parameters: ConfrelayParameters) {
        growth = parameters.competitionGrowth
        relativeGrowth = parameters.competitionRelativeGrowth
        backoff = min(parameters.competitionBackoff, 1)
        interval = parameters.competitionInterval
    }

    /// Updates the state while the queue stands or not. `start` is the first rate, `capacity` the estimated capacity of
    /// the path for us, and `maximum` the limit of the rate.
    mutating func update(
        isCompeting: Bool, start: BitRate, capacity: BitRate, maximum: BitRate, now: MonotonicInstant
    ) {
        guard isCompeting else {
            rate = nil
            lastUpdate = nil
            return
        }
        let time = lastUpdate.map { now - $0 } ?? .zero
        lastUpdate = now
        let growth = min(growth, capacity * relativeGrowth)
        // No more than a few times the arriving rate can be won from others, however long their queue takes to
        // overflow.
        let most = min(maximum, max(start, capacity * Self.most))
        rate = min((rate ?? start) + growth * time.seconds, most)
    }

    /// Packets were lost.
    mutating func lost(now: MonotonicInstant) {
        guard let current = rate, lastBackoff.map({ now - $0 >= interval }) ?? true else { return }
        lastBackoff = now
        rate = current * backoff
    }
}
