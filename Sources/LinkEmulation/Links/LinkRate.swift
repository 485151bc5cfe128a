public import MediaCore

/// How fast a link delivers.
public enum LinkRate: Hashable, Sendable {
    /// A new rate from a time on.
    public struct Step: Hashable, Sendable {
        /// Since the link began.
        public var time: Duration
        public var rate: BitRate

        public init(at time: Duration, rate: BitRate) {
            self.time = time
            self.rate = rate
        }
    }

    /// At once.
    case unlimited
    case fixed(BitRate)
    /// Ascending in time; before the first the rate is that of the first.
    case steps([Step])
    case trace(DeliveryTrace)

    /// The rate at a time since the link began, averaged over the whole trace for a trace; nil when unlimited.
    public func rate(at time: Duration) -> BitRate? {
        switch self {
        case .unlimited: nil
        case .fixed(let rate): rate
        case .steps(let steps): steps.isEmpty ? nil : steps[LinkRate.index(in: steps, at: time)].rate
        case .trace(let trace): trace.meanRate
        }
    }

    /// What is left when others take a rate of it. A trace is left as it is: its opportunities are not even in time.
    package func reduced(by taken: BitRate) -> LinkRate {
        switch self {
        case .fixed(let rate): .fixed(rate - taken)
        case .steps(let steps): .steps(steps.map { Step(at: $0.time, rate: $0.rate - taken) })
        case .unlimited, .trace: self
        }
    }

    /// A part of the rate, for one of so many that share the link.
    public func divided(by count: Int) -> LinkRate {
        switch self {
        case _ where count <= 1: self
        case .unlimited: self
        case .fixed(let rate): .fixed(rate * (1 / Double(count)))
        case .steps(let steps): .steps(steps.map { Step(at: $0.time, rate: $0.rate * (1 / Double(count))) })
        case .trace(let trace): .trace(trace.divided(by: count))
        }
    }

    /// The last step at or before a time, or the first.
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

/// How much a link's queue holds; what comes when it is full is dropped.
public enum QueueLimit: Hashable, Sendable {
    /// What the link delivers in this time at the rate that it has when the packet comes (a trace: on average).
    case duration(Duration)
    case size(DataSize)
    case packets(Int)
}
