import MediaCore

/// The rate that feedback acknowledges, over times of 100 ms, and how often feedback is wanted for it.
struct AcknowledgedBytes: Sendable {
    static let interval = 0.1
    /// Feedback of so many bytes takes this part of the rate, and comes between 10 and 500 times a second: the rule of the
    /// authors' receiver.
    static let feedbackSize = 100.0
    static let feedbackShare = 0.02
    static let feedbackRates = 10.0...500.0
    static let initialRate = 1e5

    /// In bit/s.
    private(set) var rate = 0.0
    private var slowRate = initialRate
    private var bytes = 0.0
    private var start: MonotonicInstant

    init(now: MonotonicInstant) {
        start = now
    }

    mutating func add(_ size: Double, now: MonotonicInstant) {
        bytes += size
        let elapsed = (now - start).seconds
        guard elapsed > Self.interval else { return }
        rate = bytes * 8 / elapsed
        slowRate = max(0.95 * slowRate, rate)
        bytes = 0
        start = now
    }

    /// The time between two reports (draft-ietf-ccwg-rfc8298bis-screamv2, "Receiver Requirements on Feedback Intensity").
    var feedbackInterval: Duration {
        let wanted = Self.feedbackShare * slowRate / (8 * Self.feedbackSize)
        let rate = min(max(wanted, Self.feedbackRates.lowerBound), Self.feedbackRates.upperBound)
        return .nanoseconds(Int64(clamping: 1e9 / rate))
    }
}
