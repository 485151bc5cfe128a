public struct DelayDistribution: Hashable, Sendable {
    public var mean = Duration.zero
    public var median = Duration.zero
    public var percentile95 = Duration.zero
    public var percentile99 = Duration.zero
    public var maximum = Duration.zero

    public init() {}

    /// Computes the distribution of delays in nanoseconds in ascending order; all zero without delays.
    init(sorted delays: [Int64]) {
        guard let last = delays.last else { return }
        func percentile(_ part: Int) -> Duration {
            .nanoseconds(delays[min(delays.count * part / 100, delays.count - 1)])
        }
        mean = .nanoseconds(delays.reduce(0, +) / Int64(delays.count))
        median = percentile(50)
        percentile95 = percentile(95)
        percentile99 = percentile(99)
        maximum = .nanoseconds(last)
    }

    /// Returns the percentiles of the delays from 0 to 100, in ms; empty without delays.
    static func percentiles(sorted delays: [Int64]) -> [Double] {
        guard !delays.isEmpty else { return [] }
        return (0...100).map { Double(delays[(delays.count - 1) * $0 / 100]) / 1e6 }
    }
}
