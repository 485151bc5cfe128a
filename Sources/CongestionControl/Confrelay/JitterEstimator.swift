import MediaCore

/// How long packets wait although nothing of ours is ahead of them, in the median: jitter, and links that send at
/// certain times only.
///
/// A running median: up by a step for each longer wait, down for each shorter one. The first steps are large.
struct JitterEstimator: Sendable {
    /// More than this is a queue, not jitter. In seconds.
    private static let maximum = 0.05

    private let step: Double
    private let firstStep: Double
    private var count = 0.0

    /// In seconds.
    private(set) var value = 0.0

    init(parameters: ConfrelayParameters) {
        step = parameters.jitterStep.seconds
        firstStep = parameters.firstJitterStep.seconds
    }

    /// A packet that found the link idle arrived so much, in seconds, after the base delay.
    mutating func add(_ wait: Double) {
        count += 1
        let step = max(step, firstStep / count)
        value = min(max(value + (wait > value ? step : -step), 0), Self.maximum)
    }
}
