import MediaCore

/// Holds its own against flows that fill the queue whatever its length, which starve whoever yields to delay.
///
/// When the queue does not drain although sending paused, others keep it filled. Then the rate follows losses as TCP's
/// does, growing steadily and falling with each congestion, until the queue has been seen empty again.
struct CompetingTraffic: Sendable {
    /// The rate is at most so many times what the path is thought to carry for us.
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

    /// The queue stands, or does not; `start` is the rate to begin with, `capacity` what the path is thought to carry,
    /// and `maximum` the most that the rate may be.
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
        // More than a few times what arrives is not won from others, however long their queue takes to overflow.
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
