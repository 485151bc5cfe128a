extension ScenarioResult {
    /// Returns the result with at most `count` samples of each flow. Neighbouring samples are merged: rates by their
    /// mean, delays by their maximum, so that no peak is lost.
    public func reduced(toSamples count: Int) -> ScenarioResult {
        var reduced = self
        for flow in reduced.flows.indices { reduced.flows[flow].samples = flows[flow].samples.reduced(to: count) }
        return reduced
    }
}

extension [FlowSample] {
    func reduced(to limit: Int) -> [FlowSample] {
        guard limit > 0 else { return [] }
        guard count > limit else { return self }
        let size = (count + limit - 1) / limit
        return stride(from: 0, to: count, by: size).compactMap { start in
            FlowSample(merging: self[start..<Swift.min(start + size, count)])
        }
    }
}

extension FlowSample {
    /// Merges neighbouring samples into one; nil if there are none.
    init?(merging samples: ArraySlice<FlowSample>) {
        guard let last = samples.last else { return nil }
        let count = Double(samples.count)
        let capacities = samples.compactMap(\.capacity)
        let targets = samples.compactMap(\.target)
        self = last
        target = targets.isEmpty ? nil : targets.reduce(0, +) / Double(targets.count)
        sendRate = samples.reduce(0) { $0 + $1.sendRate } / count
        receiveRate = samples.reduce(0) { $0 + $1.receiveRate } / count
        goodput = samples.reduce(0) { $0 + $1.goodput } / count
        capacity = capacities.isEmpty ? nil : capacities.reduce(0, +) / Double(capacities.count)
        queueDelay = samples.reduce(0) { max($0, $1.queueDelay) }
        senderDelay = samples.reduce(0) { max($0, $1.senderDelay) }
        isActive = samples.contains { $0.isActive }
    }
}
