public import MediaCore

/// The rate of a link over time.
public enum LinkRate: Hashable, Sendable {
    /// A new rate from a time on.
    public struct Step: Hashable, Sendable {
        /// The time since the link began.
        public var time: Duration
        public var rate: BitRate

        public init(at time: Duration, rate: BitRate) {
            self.time = time
            self.rate = rate
        }
    }

    /// No limit: packets leave at once.
    case unlimited
    case fixed(BitRate)
    /// Rates by steps, ascending in time. The first step's rate also applies before it.
    case steps([Step])
    case trace(DeliveryTrace)

    /// Returns the rate at a time since the link began, for a trace its mean rate; nil if unlimited.
    public func rate(at time: Duration) -> BitRate? {
        switch self {
        case .unlimited: nil
        case .fixed(let rate): rate
        case .steps(let steps): steps.isEmpty ? nil : steps[LinkRate.index(in: steps, at: time)].rate
        case .trace(let trace): trace.meanRate
        }
    }

    /// Returns the rate that remains when other flows take `taken` of it. A trace is not changed: its opportunities are
    /// not even in time.
    package func reduced(by taken: BitRate) -> LinkRate {
        switch self {
        case .fixed(let rate): .fixed(rate - taken)
        case .steps(let steps): .steps(steps.map { Step(at: $0.time, rate: $0.rate - taken) })
        case .unlimited, .trace: self
        }
    }

    /// Returns the share of one of `count` flows on the link.
    public func divided(by count: Int) -> LinkRate {
        switch self {
        case _ where count <= 1: self
        case .unlimited: self
        case .fixed(let rate): .fixed(rate * (1 / Double(count)))
        case .steps(let steps): .steps(steps.map { Step(at: $0.time, rate: $0.rate * (1 / Double(count))) })
        case .trace(let trace): .trace(trace.divided(by: count))
        }
    }

    /// Returns the last step at or before a time; the first step if there is none.
    static func index(in steps: [Step], at time: Duration) -> Int {
        var low = 0
        var high = steps.count
        while low < high {
            let middle = (low + high) / 2
            if steps[middle].time <= time { low = middle + 1 } else { high = middle }
        }
        return max(low - 1, 0)
    }
}

/// The capacity of a link's queue. Packets that arrive at a full queue are dropped.
public enum QueueLimit: Hashable, Sendable {
    /// The size that the link delivers in this time, at its rate when the packet arrives (for a trace, its mean rate).
    case duration(Duration)
    case size(DataSize)
    case packets(Int)
}
