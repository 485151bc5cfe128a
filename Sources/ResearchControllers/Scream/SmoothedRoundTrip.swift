import MediaCore

/// The round-trip time, smoothed twice: with each report, and again once per round trip, so that it does not follow
/// each frame. In seconds.
struct SmoothedRoundTrip: Sendable {
    static let initial = 0.05
    /// What counts as a round trip: rates are divided by it.
    static let range = 0.0001..<15

    /// Of the last reports, and of the one before.
    private(set) var short = initial
    private(set) var previousShort = initial
    /// Of the last round trips (s_rtt).
    private(set) var value = initial
    private var lastUpdate: MonotonicInstant

    init(now: MonotonicInstant) {
        lastUpdate = now
    }

    /// Takes a sample.
    ///
    /// - Parameter isApplicationLimited: whether the source makes less than it may. The smoothed value then falls
    ///   slowly: the target must not grow because of a queue that is empty for lack of media.
    mutating func add(_ sample: Double, isApplicationLimited: Bool, now: MonotonicInstant) {
        guard sample >= 0, sample < Self.range.upperBound else { return }
        let sample = max(sample, Self.range.lowerBound)
        previousShort = short
        short += (sample - short) / 8
        guard (now - lastUpdate).seconds > short else { return }
        lastUpdate = now
        value += (short - value) / (isApplicationLimited && short < value ? 1024 : 8)
    }
}
