import MediaCore

/// Remembers the sizes of recent frames, and computes the largest size of the next frame with which every limit holds.
struct DataRateLimiter {
    private struct Spending {
        var time: MediaTime
        var bytes: Int
    }

    private var limits: [DataRateLimit] = []
    private var longestWindow = Duration.zero
    /// Sizes within the longest window, oldest first, in a ring.
    private var spendings: [Spending]
    private var first = 0
    private var count = 0

    init() {
        spendings = []
    }

    mutating func setLimits(_ limits: [DataRateLimit]) {
        self.limits = limits
        longestWindow = limits.map(\.window).max() ?? .zero
        if !limits.isEmpty, spendings.isEmpty {
            spendings = Array(repeating: Spending(time: .zero, bytes: 0), count: 256)
        }
    }

    /// The most that a frame at `time` may take; nil for no bound.
    func allowance(at time: MediaTime) -> Int? {
        guard !limits.isEmpty else { return nil }
        var allowance = Int.max
        for limit in limits {
            let begin = time - MediaTime(limit.window, timescale: 1_000_000)
            var left = limit.size.bytes
            for offset in 0..<count {
                let spending = spendings[(first + offset) % spendings.count]
                if spending.time > begin { left -= spending.bytes }
            }
            allowance = min(allowance, max(0, left))
        }
        return allowance
    }

    /// Counts a frame of `bytes` at `time`.
    mutating func spend(_ bytes: Int, at time: MediaTime) {
        guard !limits.isEmpty else { return }
        let begin = time - MediaTime(longestWindow, timescale: 1_000_000)
        while count > 0, spendings[first].time <= begin {
            first = (first + 1) % spendings.count
            count -= 1
        }
        if count == spendings.count {
            spendings =
                (0..<count).map { spendings[(first + $0) % count] }
                + Array(repeating: Spending(time: .zero, bytes: 0), count: count)
            first = 0
        }
        spendings[(first + count) % spendings.count] = Spending(time: time, bytes: bytes)
        count += 1
    }
}
