import MediaCore

/// Holds its own against flows that fill the queue whatever its length, which starve whoever yields to delay.
///
/// When the queue never drains although the rate yields, others keep it filled. Then the rate follows losses as TCP's
/// does, growing steadily and falling with each congestion, until the queue has been seen empty again.
struct CompetingTraffic: Sendable {
    /// How much the rate grows each second.
    static let growth = BitRate.kilobits(100)
    /// What remains of the rate after losses, as with CUBIC (RFC 9438, 4.6).
    static let backoff = 0.7
    /// Losses closer together than this are of one congestion.
    static let lossInterval = Duration.milliseconds(500)

    /// The rate that is kept whatever delay says; nil without competition.
    private(set) var rate: BitRate?
    private var lastUpdate: MonotonicInstant?
    private var lastBackoff: MonotonicInstant?

    /// The queue stands, or does not; `start` is the rate to begin with.
    mutating func update(isCompeting: Bool, start: BitRate, now: MonotonicInstant) {
        guard isCompeting else {
            rate = nil
            lastUpdate = nil
            return
        }
        let time = lastUpdate.map { now - $0 } ?? .zero
        lastUpdate = now
        rate = (rate ?? start) + Self.growth * time.seconds
    }

    /// Packets were lost.
    mutating func lost(now: MonotonicInstant) {
        guard let current = rate, lastBackoff.map({ now - $0 >= Self.lossInterval }) ?? true else { return }
        lastBackoff = now
        rate = current * Self.backoff
    }
}
