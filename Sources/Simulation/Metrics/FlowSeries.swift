import LinkEmulation
import MediaCore

/// Computes the figures of a flow that need only its samples.
struct FlowSeries {
    /// The highest rate of the source, in Mbit/s.
    var maximum: Double
    var samples: [FlowSample]
    /// The number of samples in a second.
    let second: Int

    private let usable: [Double]
    /// All samples, also those before and after the window: a flow that begins before the window rises there.
    private let all: [FlowSample]

    /// - Parameter window: The time from which samples count, and that of the last that counts, in seconds.
    init(
        samples all: [FlowSample], window: (start: Double, end: Double) = (0, .infinity), sampleInterval: Duration,
        maximum: BitRate
    ) {
        let maximum = maximum.kilobitsPerSecond / 1000
        self.all = all
        let samples = all.filter { $0.time > window.start && $0.time <= window.end + 1e-9 }
        self.samples = samples
        self.maximum = maximum
        second = max(Int(clamping: (1 / max(sampleInterval.seconds, 0.001)).rounded()), 1)
        usable = samples.map { Self.usable($0, maximum) }
    }

    private static func usable(_ sample: FlowSample, _ maximum: Double) -> Double {
        sample.isActive ? min(sample.capacity ?? maximum, maximum) : 0
    }

    func addMetrics(to values: inout MetricValues) {
        guard !samples.isEmpty else { return }
        let active = samples.count { $0.isActive }
        let count = Double(max(active, 1))
        values[.usable] = usable.reduce(0, +) / count
        values[.goodput] = samples.reduce(0) { $0 + $1.goodput } / count
        values[.sendRate] = samples.reduce(0) { $0 + $1.sendRate } / count
        values[.receiveRate] = samples.reduce(0) { $0 + $1.receiveRate } / count
        values[.utilization] = utilization(samples.indices).map { $0 * 100 }
        values[.rateVariation] = rateVariation
        values[.oscillations] = oscillations
        values[.ramp] = ramp
        addReactions(to: &values)
    }

    /// Returns goodput divided by usable capacity; nil if there was no usable capacity.
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

    /// The swings of the send rate per minute: from a quarter above its mean over the surrounding ten seconds to a
    /// quarter below it, or the reverse. These are the high and low watermarks of RFC 8868, section 3. Pauses are
    /// excluded.
    private var oscillations: Double? {
        let seconds = stride(from: 0, to: samples.count - second + 1, by: second).compactMap { start -> Double? in
            let span = samples[start..<start + second]
            return span.allSatisfy(\.isActive) ? span.reduce(0) { $0 + $1.sendRate } : nil
        }
        guard seconds.count > 10 else { return nil }
        var swings = 0
        var wasHigh: Bool?
        for (place, rate) in seconds.enumerated() {
            let around = seconds[max(place - 5, 0)..<min(place + 6, seconds.count)]
            let mean = around.reduce(0, +) / Double(around.count)
            guard abs(rate - mean) > 0.25 * mean else { continue }
            let isHigh = rate > mean
            if let wasHigh, wasHigh != isHigh { swings += 1 }
            wasHigh = isHigh
        }
        return Double(swings) / Double(seconds.count) * 60
    }

    private var ramp: Double? {
        guard let first = all.firstIndex(where: \.isActive), first + second <= all.count else { return nil }
        let begin = first > 0 ? all[first - 1].time : 0
        for end in first + second...all.count {
            let part = all[end - second..<end]
            let usable = part.reduce(0) { $0 + Self.usable($1, maximum) }
            if usable > 0, part.reduce(0, { $0 + $1.goodput }) >= 0.9 * usable { return all[end - 1].time - begin }
        }
        return nil
    }

    /// Adds the reactions to all places where the usable capacity of a second halved or doubled.
    private func addReactions(to values: inout MetricValues) {
        let all = changes.map { reaction(to: $0.index, until: $0.end) }
        let drops = all.filter { !$0.isRise }
        let rises = all.filter(\.isRise)
        values[.overshoot] = Self.mean(drops.map(\.overshoot))
        values[.settling] = Self.mean(drops.map(\.settling))
        values[.undershoot] = Self.mean(drops.compactMap(\.undershoot))
        values[.recoveryDeficit] = Self.mean(rises.compactMap(\.deficit))
        values[.recovery] = Self.mean(rises.map(\.recovery))
    }

    /// Returns the reactions to the steps of a script or, without a script, to all changes to a half or double.
    func reactions(to steps: [LinkRate.Step]) -> [StepReaction] {
        guard steps.count > 1 else { return changes.map { reaction(to: $0.index, until: $0.end) } }
        let times = steps.dropFirst().map(\.time.seconds)
        let indices = times.compactMap { time in samples.firstIndex { $0.time > time + 1e-9 } }
        // A step that does not change the capacity usable by the flow needs no reaction.
        let real = indices.filter { index in
            guard let ratio = ratio(at: index) else { return false }
            return abs(ratio - 1) > 0.05
        }
        return real.enumerated().map { place, index in
            reaction(to: index, until: place + 1 < real.count ? real[place + 1] : samples.count)
        }
    }

    private func reaction(to index: Int, until end: Int) -> StepReaction {
        let reach = min(index + 10 * second, end)
        let following = seconds(in: min(index + second, reach)..<reach)
        let before = max(index - second, 0)..<index
        let after = index..<min(index + second, samples.count)
        return StepReaction(
            time: index > 0 ? samples[index - 1].time : 0,
            from: usable[before].reduce(0, +) / Double(max(before.count, 1)),
            to: usable[after].reduce(0, +) / Double(max(after.count, 1)),
            overshoot: max(following.map { excess($0) }.max() ?? 0, 0) * 100,
            settling: time(from: index, to: end) { excess($0) <= 0.1 },
            undershoot: following.compactMap { utilization($0) }.min().map { max(1 - $0, 0) * 100 },
            deficit: utilization(index..<min(index + 5 * second, end)).map { (1 - $0) * 100 },
            recovery: time(from: index, to: end) { utilization($0) ?? 1 >= 0.9 })
    }

    private static func mean(_ values: [Double]) -> Double? {
        values.isEmpty ? nil : values.reduce(0, +) / Double(values.count)
    }

    /// Returns the part by which the sent rate exceeded the usable capacity.
    private func excess(_ range: Range<Int>) -> Double {
        let usable = self.usable[range].reduce(0, +)
        let sent = samples[range].reduce(0) { $0 + $1.sendRate }
        return usable > 0 ? sent / usable - 1 : 0
    }

    /// Returns all windows of a second within a range.
    private func seconds(in range: Range<Int>) -> [Range<Int>] {
        guard range.lowerBound + second <= range.upperBound else { return [] }
        return (range.lowerBound...range.upperBound - second).map { $0..<$0 + second }
    }

    /// Returns the seconds from `index` to the end of the first window of a second that satisfies the condition; to
    /// `end` if there is none.
    private func time(from index: Int, to end: Int, _ isWanted: (Range<Int>) -> Bool) -> Double {
        let window = seconds(in: index..<end).first(where: isWanted)
        return Double((window?.upperBound ?? end) - index) / Double(second)
    }

    /// The places where the usable capacity of a second is at least twice that of the preceding second, or at most half
    /// of it, at the steepest point; each with the next change. The five seconds after a change belong to it.
    private var changes: [(index: Int, end: Int)] {
        let all = changePlaces()
        return all.enumerated().map { ($1, $0 + 1 < all.count ? all[$0 + 1] : samples.count) }
    }

    private func changePlaces() -> [Int] {
        var places: [Int] = []
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
            places.append(steepest ?? index)
            index = (steepest ?? index) + 5 * second
        }
        return places
    }

    /// Returns the usable capacity of the second from a sample on, divided by that of the second before; nil while
    /// inactive.
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
