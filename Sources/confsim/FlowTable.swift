import NetworkSimulation

/// The figures of every flow, and of all media flows of a scenario together (`flow` is then `all`), as comma-separated
/// values with the metrics' names as columns.
struct FlowTable {
    var results: [ScenarioResult]

    var text: String {
        var lines = ["scenario,controller,seed,flow,kind," + Metric.allCases.map(\.rawValue).joined(separator: ",")]
        for result in results {
            lines.append(line(result, flow: "all", kind: "media", result.metrics))
            for flow in result.flows { lines.append(line(result, flow: flow.name, kind: flow.kind, flow.metrics)) }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func line(_ result: ScenarioResult, flow: String, kind: String, _ metrics: MetricValues) -> String {
        let values = Metric.allCases.map { metric in metrics[metric].map { "\(($0 * 1000).rounded() / 1000)" } ?? "" }
        let names = [result.scenario, result.controller, "\(result.seed)", flow, kind].map { name in
            name.contains(",") ? "\"\(name)\"" : name
        }
        return (names + values).joined(separator: ",")
    }
}
