import MediaCore

/// The figures of several flows together: shares, fairness and common utilisation.
struct FlowComparison {
    let scenario: Scenario
    let sampleInterval: Duration

    private var second: Int { max(Int(clamping: (1 / sampleInterval.seconds).rounded()), 1) }

    func addMetrics(to result: inout ScenarioResult) {
        addShares(to: &result)
        let media = scenario.flows.indices.filter { result.flows[$0].kind == "media" }
        guard !media.isEmpty else { return }
        var values = MetricValues()
        for metric in Metric.allCases {
            let all = media.compactMap { result.flows[$0].metrics[metric] }
            guard !all.isEmpty else { continue }
            values[metric] = all.reduce(0, +) / (metric.isSum ? 1 : Double(all.count))
        }
        addSums(to: &values, result, media: media)
        addFairness(to: &values, result, media: media)
        values[.shareAgainstTCP] = shareAgainstTCP(result, media: media).map { $0 * 100 }
        values[.score] = FlowScore.score(values)
        result.metrics = values
    }

    /// Returns true if two flows have the same bottleneck.
    private func meet(_ one: Int, _ other: Int) -> Bool {
        scenario.bottleneck(of: scenario.flows[one])?.name == scenario.bottleneck(of: scenario.flows[other])?.name
    }

    /// Returns the indices of the samples in the measured window.
    private func measured(_ result: ScenarioResult) -> [Int] {
        let count = result.flows.map(\.samples.count).min() ?? 0
        guard let window = scenario.window, let flow = result.flows.first else { return Array(0..<count) }
        return (0..<count).filter {
            flow.samples[$0].time > window.lowerBound.seconds
                && flow.samples[$0].time <= window.upperBound.seconds + 1e-9
        }
    }

    private func addShares(to result: inout ScenarioResult) {
        let places = measured(result)
        for flow in result.flows.indices {
            let active = places.filter { result.flows[flow].samples[$0].isActive }
            let others = result.flows.indices.filter { meet(flow, $0) }
            guard others.count > 1 else { continue }
            let own = active.reduce(0) { $0 + result.flows[flow].samples[$1].goodput }
            let all = active.reduce(0) { sum, place in
                sum + others.reduce(0) { $0 + result.flows[$1].samples[place].goodput }
            }
            if all > 0 { result.flows[flow].metrics[.share] = own / all * 100 }
        }
    }

    /// Adds the sums of the rates of all media flows, and their common utilisation, direction by direction.
    private func addSums(to values: inout MetricValues, _ result: ScenarioResult, media: [Int]) {
        let places = measured(result)
        var usable = 0.0
        var goodput = 0.0
        var sent = 0.0
        var received = 0.0
        for group in groups(media) {
            for place in places {
                let samples = group.map { result.flows[$0].samples[place] }
                goodput += samples.reduce(0) { $0 + $1.goodput }
                sent += samples.reduce(0) { $0 + $1.sendRate }
                received += samples.reduce(0) { $0 + $1.receiveRate }
                let wanted = zip(group, samples).reduce(0) { $0 + ($1.1.isActive ? maximum(of: $1.0) : 0) }
                usable += min(wanted, samples.first?.capacity ?? wanted)
            }
        }
        let count = Double(max(places.count, 1))
        values[.usable] = usable / count
        values[.goodput] = goodput / count
        values[.sendRate] = sent / count
        values[.receiveRate] = received / count
        if usable > 0 { values[.utilization] = goodput / usable * 100 }
    }

    private func maximum(of flow: Int) -> Double {
        (scenario.flows[flow].maximum ?? .zero).kilobitsPerSecond / 1000
    }

    /// Groups media flows by their bottleneck.
    private func groups(_ media: [Int]) -> [[Int]] {
        var groups: [[Int]] = []
        for flow in media {
            if let group = groups.firstIndex(where: { $0.contains { meet($0, flow) } }) {
                groups[group].append(flow)
            } else {
                groups.append([flow])
            }
        }
        return groups
    }

    private func addFairness(to values: inout MetricValues, _ result: ScenarioResult, media: [Int]) {
        let places = measured(result)
        for (metric, seconds) in [(Metric.fairness1, 1), (.fairness5, 5), (.fairness20, 20)] {
            let indices = groups(media).flatMap { group in
                stride(from: 0, to: places.count, by: seconds * second).compactMap { start in
                    fairness(result, group, Array(places[start..<min(start + seconds * second, places.count)]))
                }
            }
            values[metric] = indices.isEmpty ? nil : indices.reduce(0, +) / Double(indices.count)
        }
        values[.convergence] = convergence(result, media: media)
    }

    /// Returns Jain's fairness index of the flows that were active in all given samples; nil if there are fewer than
    /// two.
    private func fairness(_ result: ScenarioResult, _ group: [Int], _ places: [Int]) -> Double? {
        let active = group.filter { flow in places.allSatisfy { result.flows[flow].samples[$0].isActive } }
        guard active.count > 1 else { return nil }
        let rates = active.map { flow in places.reduce(0) { $0 + result.flows[flow].samples[$1].goodput } }
        let sum = rates.reduce(0, +)
        let squares = rates.reduce(0) { $0 + $1 * $1 }
        return squares > 0 ? sum * sum / (Double(rates.count) * squares) : nil
    }

    private func convergence(_ result: ScenarioResult, media: [Int]) -> Double? {
        let window = 5 * second
        let times = groups(media).filter { $0.count > 1 }.compactMap { group -> Double? in
            let starts = group.map { flow in result.flows[flow].samples.firstIndex(where: \.isActive) ?? 0 }
            let count = result.flows.map(\.samples.count).min() ?? 0
            guard let last = starts.max(), last + 2 * window <= count else { return nil }
            var fairSince: Int?
            for end in last + window...count {
                guard fairness(result, group, Array(end - window..<end)) ?? 0 >= 0.9 else {
                    fairSince = nil
                    continue
                }
                let since = fairSince ?? end
                fairSince = since
                if end - since >= window { return Double(since - last) / Double(second) }
            }
            return nil
        }
        return times.max()
    }

    /// Returns the goodput of the media flows that have a bottleneck in common with long TCP flows, divided by an equal
    /// share, while all of them were active; nil without any.
    private func shareAgainstTCP(_ result: ScenarioResult, media: [Int]) -> Double? {
        let long = scenario.flows.indices.filter { flow in
            guard case .tcp(let parameters) = scenario.flows[flow].kind else { return false }
            return parameters.transfers == nil && media.contains { meet($0, flow) }
        }
        let beside = media.filter { flow in long.contains { meet(flow, $0) } }
        guard !beside.isEmpty else { return nil }
        let all = beside + long
        let places = measured(result).filter { place in all.allSatisfy { result.flows[$0].samples[place].isActive } }
        func mean(_ flows: [Int]) -> Double {
            flows.reduce(0) { sum, flow in
                sum + places.reduce(0) { $0 + result.flows[flow].samples[$1].goodput }
            } / Double(flows.count)
        }
        let equal = mean(all)
        return equal > 0 ? mean(beside) / equal : nil
    }
}
