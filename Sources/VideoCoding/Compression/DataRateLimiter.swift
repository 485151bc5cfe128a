import DequeModule
import MediaCore

/// Remembers the sizes of recent frames, and computes the largest size of the next frame with which every limit holds.
struct DataRateLimiter {
    private struct Spending {
        var time: MediaTime
        var bytes: Int
    }

    private var limits: [DataRateLimit] = []
    private var longestWindow = Duration.zero
    /// Sizes within the longest window, oldest first.
    private var spendings = Deque<Spending>()

    mutating func setLimits(_ limits: [DataRateLimit]) {
        self.limits = limits
        longestWindow = limits.map(\.window).max() ?? .zero
        if !limits.isEmpty { spendings.reserveCapacity(256) }
    }

    /// The most that a frame at `time` may take; nil for no bound.
    func allowance(at time: MediaTime) -> Int? {
        guard !limits.isEmpty else { return nil }
        var allowance = Int.max
        for limit in limits {
            let begin = time - MediaTime(limit.window, timescale: 1_000_000)
            var left = limit.size.bytes
            for spending in spendings where spending.time > begin { left -= spending.bytes }
            allowance = min(allowance, max(0, left))
        }
        return allowance
    }

    /// Counts a frame of `bytes` at `time`.
    mutating func spend(_ bytes: Int, at time: MediaTime) {
        guard !limits.isEmpty else { return }
        let begin = time - MediaTime(longestWindow, timescale: 1_000_000)
        while let first = spendings.first, first.time <= begin { spendings.removeFirst() }
        spendings.append(Spending(time: time, bytes: bytes))
    }
}
