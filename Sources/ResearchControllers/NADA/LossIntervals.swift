/// The intervals between losses, in packets, averaged as in TFRC (RFC 5348, section 5.4), to which RFC 8698, section
/// 4.2, refers.
struct LossIntervals: Sendable {
    static let weights = [1, 1, 1, 1, 0.8, 0.6, 0.4, 0.2]

    /// The intervals from the current one, which no loss has ended yet, to the oldest.
    private var intervals = [0]
    private var expected: Int64?

    init() {
        intervals.reserveCapacity(Self.weights.count + 2)
    }

    /// The packets since the last loss.
    var current: Int { intervals[0] }

    /// The mean interval; nil before the first loss. The current interval counts only if it makes the mean longer.
    var mean: Double? {
        let count = intervals.count - 1
        guard count > 0 else { return nil }
        var withCurrent = 0.0
        var withoutCurrent = 0.0
        var total = 0.0
        for index in 0..<count {
            let weight = Self.weights[index]
            withCurrent += weight * Double(intervals[index])
            withoutCurrent += weight * Double(intervals[index + 1])
            total += weight
        }
        return max(withCurrent, withoutCurrent) / total
    }

    /// Counts an arrived packet. Missing numbers between it and the preceding packet are losses.
    mutating func received(_ sequence: Int64) {
        guard let expected, sequence != expected else {
            intervals[0] += 1
            self.expected = sequence + 1
            return
        }
        // A late packet was already counted as a loss.
        guard sequence > expected else { return }
        intervals.insert(1, at: 0)
        if intervals.count > Self.weights.count + 1 { intervals.removeLast() }
        self.expected = sequence + 1
    }
}
