public import MediaCore

extension LinkRate {
    /// Returns the size that the link could deliver between two times since it began; nil if the rate is unlimited.
    public func capacity(from begin: Duration, to end: Duration) -> DataSize? {
        guard begin < end else { return .zero }
        switch self {
        case .unlimited: return nil
        case .fixed(let rate): return rate.dataSize(over: end - begin)
        case .steps(let steps):
            var bytes = 0.0
            guard !steps.isEmpty else { return nil }
            for index in LinkRate.index(in: steps, at: begin)...LinkRate.index(in: steps, at: end) {
                let step = steps[index]
                let from = index == 0 ? begin : max(begin, step.time)
                let to = index + 1 < steps.count ? min(end, steps[index + 1].time) : end
                if from < to { bytes += Double(step.rate.bitsPerSecond) / 8 * (to - from).seconds }
            }
            return DataSize(bytes: bytes)
        case .trace(let trace):
            let opportunities = trace.opportunityCount(before: end) - trace.opportunityCount(before: begin)
            return DataSize(bytes: DeliveryTrace.opportunitySize.bytes * opportunities)
        }
    }
}

extension DeliveryTrace {
    /// Returns the number of opportunities from the beginning to just before a time, including repetitions.
    func opportunityCount(before time: Duration) -> Int {
        let (cycle, rest) = max(time, .zero).nanoseconds.quotientAndRemainder(dividingBy: period.nanoseconds)
        return Int(cycle) * times.count + index(atOrAfter: rest)
    }

    /// Returns the first opportunity of a repetition that is at or after a time in nanoseconds; the count if there is
    /// none.
    func index(atOrAfter nanoseconds: Int64) -> Int {
        var low = 0
        var high = times.count
        while low < high {
            let middle = (low + high) / 2
            if times[middle] * 1_000_000 < nanoseconds { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
