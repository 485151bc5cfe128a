import MediaCore

/// Estimates jitter: the median wait of packets without our own packets ahead of them. It covers links that send at
/// certain times only.
///
/// It is a running median: it rises by a step for each longer wait and falls for each shorter one. The first steps are
/// large.
struct JitterEstimator: Sendable {
    /// More than this is a queue, not jitter. In seconds.
    private static let maximum = 0.05

    private let step: Double
    private let firstStep: Double
    private var count = 0.0

    /// The value in seconds.
    private(set) var value = 0.0

    init(parameters: ConfrelayParameters) {
        step = parameters.jitterStep.seconds
        firstStep = parameters.firstJitterStep.seconds
    }

    /// Takes the wait of a packet that found the link idle, in seconds beyond the base delay.
    mutating func add(_ wait: Double) {
        count += 1
        let step = max(step, firstStep / count)
        value = min(max(value + (wait > value ? step : -step), 0), Self.maximum)
    }
}
