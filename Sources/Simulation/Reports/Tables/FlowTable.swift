import VectorGraphics

/// The figures of every flow as comma-separated values, with the metrics' names as columns. A row with the flow `all`
/// has the figures of all media flows of a scenario together.
public struct FlowTable: Sendable {
    public var results: [ScenarioResult]

    public init(_ results: [ScenarioResult]) {
        self.results = results
    }

    public var csv: String {
        var text = CSVText.line(
            ["suite", "scenario", "controller", "seed", "flow", "kind"] + Metric.allCases.map(\.rawValue))
        for result in results {
            text += line(result, flow: "all", kind: "media", result.metrics)
            for flow in result.flows { text += line(result, flow: flow.name, kind: flow.kind, flow.metrics) }
        }
        return text
    }

    private func line(_ result: ScenarioResult, flow: String, kind: String, _ metrics: MetricValues) -> String {
        CSVText.line(
            [result.suite, result.scenario, result.controller, "\(result.seed)", flow, kind]
                + Metric.allCases.map { NumberText.shortCell(metrics[$0]) })
    }
}

extension NumberText {
    /// Formats a value with at most three decimals; empty if it is nil.
    static func shortCell(_ value: Double?) -> String { value.map { short($0, 3) } ?? "" }
}
