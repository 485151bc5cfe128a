/// The target of the queueing delay, in seconds. It grows beside flows that fill the queue until it drops packets (RFC
/// 8298, section 4.1.2.1; draft-ietf-ccwg-rfc8298bis-screamv2, "Competing Flows Compensation").
struct QueueDelayTarget: Sendable {
    static let historyCount = 200
    static let shortCount = 50
    static let lossEventThreshold = 0.002
    static let varianceThreshold = 0.2
    static let lossEventGain = 0.02

    let minimum: Double
    let maximum: Double
    /// The target (qdelay_target).
    private(set) var value: Double
    /// The share of round trips with a loss (loss_event_rate).
    private(set) var lossEventRate = 0.0
    private var history: [Double] = []
    private var next = 0

    init(minimum: Double, maximum: Double) {
        self.minimum = minimum
        self.maximum = max(maximum, minimum)
        value = minimum
    }

    /// Counts a finished round trip.
    mutating func roundTripPassed(hadLoss: Bool) {
        lossEventRate += Self.lossEventGain * ((hadLoss ? 1 : 0) - lossEventRate)
    }

    /// Adds a delay, every 50 ms, and adapts the target.
    mutating func add(_ delay: Double) {
        let normal = delay / minimum
        if history.count < Self.historyCount {
            history.append(normal)
        } else {
            history[next] = normal
            next = (next + 1) % Self.historyCount
        }
        let mean = history.reduce(0, +) / Double(history.count)
        let variance = history.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(history.count)
        let candidate = minimum * (recentMean + variance.squareRoot())
        if lossEventRate > Self.lossEventThreshold {
            value = 1.5 * candidate
        } else if variance < Self.varianceThreshold {
            value = candidate
        } else if candidate < minimum {
            value = max(value * 0.5, candidate)
        } else {
            value *= 0.9
        }
        value = min(max(value, minimum), maximum)
    }

    private var recentMean: Double {
        let count = min(Self.shortCount, history.count)
        guard count > 0 else { return 0 }
        var sum = 0.0
        for age in 1...count {
            // `next` is the oldest entry if the history is full. Before that it is zero, the index after the end.
            sum += history[(next + history.count - age) % history.count]
        }
        return sum / Double(count)
    }
}
