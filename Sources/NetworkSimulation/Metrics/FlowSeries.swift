import MediaCore

/// What can be told of a flow by its samples alone.
struct FlowSeries {
    /// The most that the source may send, in Mbit/s.
    var maximum: Double
    var samples: [FlowSample]
    /// Samples of a second.
    let second: Int

    private let usable: [Double]

    init(samples: [FlowSample], sampleInterval: Duration, maximum: BitRate) {
        let maximum = maximum.kilobitsPerSecond / 1000
        self.samples = samples
        self.maximum = maximum
        second = max(Int((1 / max(sampleInterval.seconds, 0.001)).rounded()), 1)
        usable = samples.map { $0.isActive ? min($0.capacity ?? maximum, maximum) : 0 }
    }

    func addMetrics(to values: inout MetricValues) {
        guard !samples.isEmpty else { return }
        let active = samples.count { $0.isActive }
        let count = Double(max(active, 1))
        values[.usable] = usable.reduce(0, +) / count
        values[.goodput] = samples.reduce(0) { $0 + $1.goodput } / count
        values[.sendRate] = samples.reduce(0) { $0 + $1.sendRate } / count
        values[.utilization] = utilization(samples.indices).map { $0 * 100 }
        values[.rateVariation] = rateVariation
        values[.ramp] = ramp
        addReactions(to: &values)
    }

    /// Goodput over usable capacity; nil where nothing was usable.
    private func utilization(_ range: Range<Int>) -> Double? {
        let usable = self.usable[range].reduce(0, +)
        return usable > 0 ? samples[range].reduce(0) { $0 + $1.goodput } / usable : nil
    }

    private var rateVariation: Double? {
        let seconds = stride(from: 0, to: samples.count - second + 1, by: second).map { start in
            samples[start..<start + second].reduce(0) { $0 + $1.sendRate }
        }
        let sum = seconds.reduce(0, +)
        guard seconds.count > 1, sum > 0 else { return nil }
        let change = zip(seconds, seconds.dropFirst()).reduce(0) { $0 + abs($1.1 - $1.0) }
        return change / Double(seconds.count - 1) / (sum / Double(seconds.count)) * 100
    }

    private var ramp: Double? {
        guard let first = samples.firstIndex(where: \.isActive), first + second <= samples.count else { return nil }
        let begin = first > 0 ? samples[first - 1].time : 0
        for end in first + second...samples.count {
            if let part = utilization(end - second..<end), part >= 0.9 { return samples[end - 1].time - begin }
        }
        return nil
    }

    /// What followed when the usable capacity of a second halved or doubled.
    private func addReactions(to values: inout MetricValues) {
        var overshoots: [Double] = []
        var settlings: [Double] = []
        var undershoots: [Double] = []
        var deficits: [Double] = []
        var recoveries: [Double] = []
        for (index, end) in changes(isRise: false) {
            let reach = min(index + 10 * second, end)
            overshoots.append(seconds(in: index + second..<reach).map { excess($0) }.max() ?? 0)
            settlings.append(time(from: index, to: end) { excess($0) <= 0.1 })
            let worst = seconds(in: index + second..<reach).compactMap { utilization($0) }.min()
            if let worst { undershoots.append(max(1 - worst, 0)) }
        }
        for (index, end) in changes(isRise: true) {
            if let part = utilization(index..<min(index + 5 * second, end)) { deficits.append(1 - part) }
            recoveries.append(time(from: index, to: end) { utilization($0) ?? 1 >= 0.9 })
        }
        values[.overshoot] = Self.mean(overshoots).map { max($0, 0) * 100 }
        values[.settling] = Self.mean(settlings)
        values[.undershoot] = Self.mean(undershoots).map { $0 * 100 }
        values[.recoveryDeficit] = Self.mean(deficits).map { $0 * 100 }
        values[.recovery] = Self.mean(recoveries)
    }

    private static func mean(_ values: [Double]) -> Double? {
        values.isEmpty ? nil : values.reduce(0, +) / Double(values.count)
    }

    /// How much more than usable was sent.
    private func excess(_ range: Range<Int>) -> Double {
        let usable = self.usable[range].reduce(0, +)
        let sent = samples[range].reduce(0) { $0 + $1.sendRate }
        return usable > 0 ? sent / usable - 1 : 0
    }

    /// All windows of a second within a range.
    private func seconds(in range: Range<Int>) -> [Range<Int>] {
        guard range.lowerBound + second <= range.upperBound else { return [] }
        return (range.lowerBound...range.upperBound - second).map { $0..<$0 + second }
    }

    /// Seconds from `index` to the end of the first window of a second that is as wanted; to `end` when none is.
    private func time(from index: Int, to end: Int, _ isWanted: (Range<Int>) -> Bool) -> Double {
        let window = seconds(in: index..<end).first(where: isWanted)
        return Double((window?.upperBound ?? end) - index) / Double(second)
    }

    /// Where the usable capacity of a second is at least twice that of the one before, or at most half of it, at its
    /// steepest; and where the next change is. The five seconds after a change belong to it.
    private func changes(isRise: Bool) -> [(index: Int, end: Int)] {
        let all = changePlaces()
        return all.enumerated().compactMap { place, change in
            guard change.isRise == isRise else { return nil }
            return (change.index, place + 1 < all.count ? all[place + 1].index : samples.count)
        }
    }

    private func changePlaces() -> [(index: Int, isRise: Bool)] {
        var places: [(index: Int, isRise: Bool)] = []
        var index = second
        while index + 5 * second <= samples.count {
            guard let ratio = ratio(at: index), ratio >= 2 || ratio <= 0.5 else {
                index += 1
                continue
            }
            let isRise = ratio >= 2
            let candidates = index..<min(index + second, samples.count - second + 1)
            let steepest = candidates.max { one, other in
                let (first, second) = (self.ratio(at: one) ?? 1, self.ratio(at: other) ?? 1)
                return isRise ? first < second : first > second
            }
            places.append((steepest ?? index, isRise))
            index = (steepest ?? index) + 5 * second
        }
        return places
    }

    /// The usable capacity of the second from a sample on over that of the second before; nil while inactive.
    private func ratio(at index: Int) -> Double? {
        guard index >= second, index + second <= samples.count,
            samples[index - second..<index + second].allSatisfy(\.isActive)
        else { return nil }
        let before = usable[index - second..<index].reduce(0, +)
        let after = usable[index..<index + second].reduce(0, +)
        guard before > 0 else { return after > 0 ? .infinity : nil }
        return after / before
    }
}
