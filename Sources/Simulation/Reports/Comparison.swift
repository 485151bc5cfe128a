/// The results of controllers in scenarios, side by side.
public struct Comparison: Sendable {
    /// The results of one controller in a case.
    public struct Entry: Sendable {
        public var controller: String
        /// The mean over all seeds.
        public var metrics: MetricValues
        public var runCount: Int
        /// The run with the first seed.
        public var result: ScenarioResult
        /// True if no other contender is at least as good in every dimension and better in one.
        public var isOnFront = false
        /// True if it has the highest score of the contenders.
        public var isBest = false
    }

    /// A scenario under all controllers.
    public struct Case: Sendable {
        public var scenario: String
        public var suite: String
        /// The entries in the order of the comparison's controllers, without controllers that were not run.
        public var entries: [Entry]

        public func entry(of controller: String) -> Entry? {
            entries.first { $0.controller == controller }
        }

        /// Returns the contenders that are at least as good as a controller in every dimension and better in one.
        public func dominators(of controller: String) -> [Entry] {
            guard let own = entry(of: controller) else { return [] }
            return entries.filter {
                !references.contains($0.controller) && ParetoFront.dominates($0.metrics, own.metrics)
            }
        }
    }

    /// The controllers that serve only as a scale: one knows the network, the other ignores it.
    public static let references: Set<String> = ["oracle", "fixed"]

    /// The controllers in the order of their first results.
    public let controllers: [String]
    public let cases: [Case]

    public init(_ results: [ScenarioResult]) {
        var controllers: [String] = []
        var scenarios: [String] = []
        var groups: [String: [String: [ScenarioResult]]] = [:]
        for result in results {
            if !controllers.contains(result.controller) { controllers.append(result.controller) }
            let key = "\(result.suite)\u{0}\(result.scenario)"
            if groups[key] == nil { scenarios.append(key) }
            groups[key, default: [:]][result.controller, default: []].append(result)
        }
        self.controllers = controllers
        cases = scenarios.compactMap { key in
            let entries = controllers.compactMap { controller -> Entry? in
                guard let runs = groups[key]?[controller], let first = runs.first else { return nil }
                return Entry(
                    controller: controller, metrics: .mean(of: runs.map(\.metrics)), runCount: runs.count,
                    result: first)
            }
            guard let first = entries.first?.result else { return nil }
            return Case(scenario: first.scenario, suite: first.suite, entries: Self.marked(entries))
        }
    }

    /// The controllers that compete, without the references.
    public var contenders: [String] { controllers.filter { !Self.references.contains($0) } }

    /// The suites with their cases, in the order of their first cases.
    public var suites: [(name: String, cases: [Case])] {
        var suites: [(name: String, cases: [Case])] = []
        for item in cases {
            if let place = suites.firstIndex(where: { $0.name == item.suite }) {
                suites[place].cases.append(item)
            } else {
                suites.append((item.suite, [item]))
            }
        }
        return suites
    }

    private static func marked(_ entries: [Entry]) -> [Entry] {
        var entries = entries
        // A case without media has no contenders.
        let contenders = entries.indices.filter {
            !references.contains(entries[$0].controller) && entries[$0].metrics[.utilization] != nil
        }
        guard contenders.count > 1 else { return entries }
        for place in ParetoFront.indices(of: contenders.map { entries[$0].metrics }) {
            entries[contenders[place]].isOnFront = true
        }
        // If all fail, none is the best.
        if let best = contenders.compactMap({ entries[$0].metrics[.score] }).max(), best > 0 {
            for place in contenders where entries[place].metrics[.score] == best { entries[place].isBest = true }
        }
        return entries
    }
}
