import MediaCore

/// Counts durations in buckets of one millisecond up to ten seconds, to tell quantiles of a long run in fixed memory.
public struct DurationHistogram: Sendable {
    private static let bucketCount = 10_000

    private var buckets: [UInt32] = []
    private var sum: Duration = .zero
    public private(set) var count = 0
    public private(set) var maximum: Duration?

    public init() {}

    /// Counts a duration; a negative one counts as zero, one over ten seconds in the last bucket.
    public mutating func record(_ duration: Duration) {
        if buckets.isEmpty { buckets = Array(repeating: 0, count: Self.bucketCount) }
        let duration = max(.zero, duration)
        let index = min(Int(clamping: duration.nanoseconds / 1_000_000), Self.bucketCount - 1)
        buckets[index] &+= 1
        count += 1
        sum += duration
        maximum = max(maximum ?? .zero, duration)
    }

    public var mean: Duration? { count > 0 ? sum / count : nil }

    /// The duration that this fraction (0…1) of all does not exceed, rounded up to a millisecond.
    public func quantile(_ fraction: Double) -> Duration? {
        guard count > 0 else { return nil }
        let rank = max(1, Int(clamping: (min(max(fraction, 0), 1) * Double(count)).rounded(.up)))
        var seen = 0
        for (index, bucketSize) in buckets.enumerated() {
            seen += Int(bucketSize)
            if seen >= rank { return min(.milliseconds(index + 1), maximum ?? .zero) }
        }
        return maximum
    }
}
