import MediaCore

/// Counts durations in fixed buckets, as Prometheus histograms do.
public struct LatencyHistogram: Sendable {
    /// Upper bounds of the buckets, in milliseconds; a last one without bound follows.
    public static let bucketBounds: [Double] = [0.25, 0.5, 1, 2, 4, 8, 16, 33, 66, 133, 266, 533, 1000]

    /// Observations in each bucket (not cumulative), the unbounded one last.
    public private(set) var counts = [UInt64](repeating: 0, count: bucketBounds.count + 1)
    /// Sum of all observations.
    public private(set) var sum = Duration.zero

    public init() {}

    /// Number of observations.
    public var count: UInt64 { counts.reduce(0, &+) }

    mutating func observe(_ duration: Duration) {
        let milliseconds = duration.milliseconds
        let bucket = Self.bucketBounds.firstIndex { milliseconds <= $0 } ?? Self.bucketBounds.count
        counts[bucket] &+= 1
        sum += max(.zero, duration)
    }
}
