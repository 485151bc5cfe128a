public import MediaCore

/// The losses on the way to a receiver, with their bursts, over the last seconds.
public struct LossMeter: Sendable {
    /// The losses in a period.
    public struct Summary: Hashable, Sendable {
        public var packets = 0
        public var lost = 0
        /// Losses in a row count as one.
        public var bursts = 0

        public init() {}

        public var fraction: Double { packets > 0 ? Double(lost) / Double(packets) : 0 }
        /// The mean length of a burst of losses; zero without losses.
        public var meanBurst: Double { bursts > 0 ? Double(lost) / Double(bursts) : 0 }
    }

    private static let bucket = Duration.milliseconds(500)
    private static let bucketCount = 10

    private var buckets = [Summary](repeating: Summary(), count: bucketCount)
    private var newest: Int64 = 0
    private var isInBurst = false

    public init() {}

    /// Counts a packet of which feedback speaks for the first time, in the order in which they were sent.
    public mutating func add(isLost: Bool, now: MonotonicInstant) {
        advance(now: now)
        let index = current
        buckets[index].packets += 1
        if isLost {
            buckets[index].lost += 1
            if !isInBurst { buckets[index].bursts += 1 }
        }
        isInBurst = isLost
    }

    /// A packet that was counted as lost came late.
    public mutating func found(now: MonotonicInstant) {
        advance(now: now)
        guard let index = buckets.indices.first(where: { buckets[$0].lost > 0 }) else { return }
        buckets[index].lost -= 1
        buckets[index].bursts = min(buckets[index].bursts, buckets[index].lost)
    }

    /// Counts the losses in a report, if there is no feedback on single packets.
    public mutating func add(lost: Int, of packets: Int, now: MonotonicInstant) {
        guard packets > 0 else { return }
        advance(now: now)
        let lost = min(max(lost, 0), packets)
        buckets[current].packets += packets
        buckets[current].lost += lost
        buckets[current].bursts += lost
    }

    /// The losses of the last five seconds.
    public mutating func summary(now: MonotonicInstant) -> Summary { sum(of: Self.bucketCount, now: now) }

    /// The losses of the last second.
    public mutating func recent(now: MonotonicInstant) -> Summary { sum(of: 2, now: now) }

    private mutating func sum(of count: Int, now: MonotonicInstant) -> Summary {
        advance(now: now)
        var sum = Summary()
        for age in 0..<Int64(count) {
            let bucket = buckets[Self.index(of: newest - age)]
            sum.packets += bucket.packets
            sum.lost += bucket.lost
            sum.bursts += bucket.bursts
        }
        return sum
    }

    private var current: Int { Self.index(of: newest) }

    private static func index(of bucket: Int64) -> Int {
        let count = Int64(bucketCount)
        return Int((bucket % count + count) % count)
    }

    private mutating func advance(now: MonotonicInstant) {
        let bucket = now.nanoseconds / Self.bucket.nanoseconds
        guard bucket > newest else { return }
        for next in max(newest + 1, bucket - Int64(Self.bucketCount) + 1)...bucket {
            buckets[Self.index(of: next)] = Summary()
        }
        newest = bucket
    }
}
