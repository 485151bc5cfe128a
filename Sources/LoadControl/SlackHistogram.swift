/// Counts how much of the time to the next tick was left when a tick's last job was done.
public struct SlackHistogram: Sendable {
    /// Upper bounds of the buckets, as shares of that time; a last one without bound follows. Negative: it was late.
    public static let bucketBounds: [Double] = [-1, -0.5, -0.25, -0.1, 0, 0.1, 0.25, 0.5, 0.75, 0.9]

    /// Ticks in each bucket (not cumulative), those above every bound last. A tick that was skipped for lack of time is
    /// in the first.
    public private(set) var counts = [UInt64](repeating: 0, count: bucketBounds.count + 1)
    public private(set) var sum = 0.0

    public init() {}

    package mutating func observe(_ slack: Double) {
        let bucket = Self.bucketBounds.firstIndex { slack <= $0 } ?? Self.bucketBounds.count
        counts[bucket] &+= 1
        sum += slack
    }

    package mutating func observeMissed() { observe(-1) }
}
