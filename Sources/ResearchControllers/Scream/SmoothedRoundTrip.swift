import MediaCore

/// The round-trip time in seconds, smoothed twice: with each report, and again once per round trip, so that it does not
/// follow each frame.
struct SmoothedRoundTrip: Sendable {
    static let initial = 0.05
    /// The valid round trips. Rates are divided by them.
    static let range = 0.0001..<15

    /// The average of the last reports; `previousShort` is its value before the last report.
    private(set) var short = initial
    private(set) var previousShort = initial
    /// The average of the last round trips (s_rtt).
    private(set) var value = initial
    private var lastUpdate: MonotonicInstant

    init(now: MonotonicInstant) {
        lastUpdate = now
    }

    /// Adds a sample.
    ///
    /// - Parameter isApplicationLimited: True if the source produces less than it may. The smoothed value then falls
    ///   slowly: a queue that is empty for lack of media must not raise the target.
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
