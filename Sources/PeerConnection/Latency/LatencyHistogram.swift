package import MediaCore

/// Counts durations in fixed buckets, as Prometheus histograms do.
public struct LatencyHistogram: Sendable {
    /// Upper bounds of the buckets, in milliseconds; a last one without bound follows.
    public static let bucketBounds: [Double] = [
        0.25, 0.5, 1, 2, 4, 8, 12, 16, 24, 33, 45, 60, 90, 150, 266, 533, 1000,
    ]

    /// Observations in each bucket (not cumulative), the unbounded one last.
    public private(set) var counts = [UInt64](repeating: 0, count: bucketBounds.count + 1)
    /// Sum of all observations, in nanoseconds: durations of 128 bits are slow to add for each stage of each frame.
    private var summedNanoseconds: Int64 = 0
    public var sum: Duration { .nanoseconds(summedNanoseconds) }

    private static let boundsInNanoseconds = bucketBounds.map { Int64($0 * 1e6) }

    public init() {}

    public var count: UInt64 { counts.reduce(0, &+) }

    /// The mean; nil if nothing was observed.
    public var mean: Duration? {
        let count = Int64(clamping: count)
        return count > 0 ? sum / count : nil
    }

    /// The duration that a share of the observations does not exceed, if those of a bucket were evenly distributed; for
    /// the unbounded bucket, its lower bound; nil without observations.
    ///
    /// - Parameter share: 0 to 1.
    public func quantile(_ share: Double) -> Duration? {
        let count = count
        guard count > 0 else { return nil }
        let rank = Double(count) * min(max(share, 0), 1)
        var (below, lower) = (0.0, 0.0)
        for (bound, inBucket) in zip(Self.bucketBounds, counts) {
            if inBucket > 0, below + Double(inBucket) >= rank {
                return .milliseconds(lower + (bound - lower) * (rank - below) / Double(inBucket))
            }
            below += Double(inBucket)
            lower = bound
        }
        return .milliseconds(lower)
    }

    /// Counts a duration, or several that are alike; a negative one counts as none.
    package mutating func observe(_ duration: Duration, count: UInt64 = 1) {
        observe(nanoseconds: duration.nanoseconds, count: count)
    }

    /// Counts the time between two instants, or several that are alike.
    package mutating func observe(from start: MonotonicInstant, to end: MonotonicInstant, count: UInt64 = 1) {
        observe(nanoseconds: end.nanoseconds.subtractingReportingOverflow(start.nanoseconds).partialValue, count: count)
    }

    /// Counts all that another histogram has.
    mutating func add(_ other: LatencyHistogram) {
        for bucket in counts.indices { counts[bucket] &+= other.counts[bucket] }
        summedNanoseconds &+= other.summedNanoseconds
    }

    private mutating func observe(nanoseconds: Int64, count: UInt64) {
        let nanoseconds = max(0, nanoseconds)
        let bounds = Self.boundsInNanoseconds
        counts[bounds.firstIndex { nanoseconds <= $0 } ?? bounds.count] &+= count
        summedNanoseconds &+= nanoseconds &* Int64(clamping: count)
    }
}

package struct LatencyHistograms: Sendable {
    private var histograms = [LatencyHistogram](repeating: LatencyHistogram(), count: LatencyStage.allCases.count)

    package init() {}

    package subscript(stage: LatencyStage) -> LatencyHistogram {
        _read { yield histograms[stage.rawValue] }
        _modify { yield &histograms[stage.rawValue] }
    }

    /// Counts all that others have.
    mutating func add(_ others: LatencyHistograms) {
        for index in histograms.indices { histograms[index].add(others.histograms[index]) }
    }
}
