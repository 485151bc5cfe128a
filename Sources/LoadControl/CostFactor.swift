package import MediaCore

/// The ratio of jobs' actual times to the times that were measured on the idle machine: other sizes and contents cost
/// more or less, and so does other work on shared processors.
package struct CostFactor: Sendable {
    /// The time over which the average is taken.
    private static let time = 5.0
    /// The least work that is evaluated, in seconds of processor time.
    private static let leastWork = 0.2
    private static let bounds = 0.5...4.0

    private var busy = 0.0
    private var expected = 0.0
    private var lastDecay: MonotonicInstant?

    package init() {}

    /// The value; 1 while it is not known.
    package var value: Double {
        guard expected >= Self.leastWork else { return 1 }
        return min(max(busy / expected, Self.bounds.lowerBound), Self.bounds.upperBound)
    }

    /// Takes a job, in seconds.
    package mutating func observe(busy: Double, expected: Double, now: MonotonicInstant) {
        let elapsed = lastDecay.map { (now - $0).seconds } ?? 0
        if lastDecay == nil { lastDecay = now }
        if elapsed >= 0.25 {
            let keep = max(0, 1 - elapsed / Self.time)
            self.busy *= keep
            self.expected *= keep
            lastDecay = now
        }
        self.busy += busy
        self.expected += expected
    }
}
