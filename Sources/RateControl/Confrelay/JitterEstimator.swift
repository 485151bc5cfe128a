/// How long packets wait although nothing of ours is ahead of them, in the median: jitter, and links that send at
/// certain times only.
struct JitterEstimator: Sendable {
    /// The step of each sample, in seconds: a thousand packets, some tens of seconds, span the range.
    private static let step = 1e-4
    /// More than this is a queue, not jitter.
    private static let maximum = 0.05

    /// In seconds.
    private(set) var value = 0.0

    /// A packet that found the link idle arrived so much after the base delay.
    mutating func add(_ wait: Double) {
        value = min(max(value + (wait > value ? Self.step : -Self.step), 0), Self.maximum)
    }
}
