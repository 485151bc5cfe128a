import Foundation
import NetworkSimulation

/// A row for each scenario and controller, the mean of its seeds, for people.
struct ScenarioTable {
    var results: [ScenarioResult]

    private static let columns: [(title: String, metric: Metric, decimals: Int)] = [
        ("Mbit/s", .goodput, 2), ("util %", .utilization, 1), ("queue p50 ms", .queueingDelayMedian, 1),
        ("p95 ms", .queueingDelay95, 1), ("loss %", .loss, 2), ("frame p95 ms", .frameDelay95, 0),
        ("late or lost %", .framesLateOrLost, 2), ("ramp s", .ramp, 1), ("recovery %", .recoveryDeficit, 1),
        ("fair 20s", .fairness20, 3), ("vs tcp %", .shareAgainstTCP, 0),
    ]

    var text: String {
        var rows = [["scenario", "controller"] + Self.columns.map(\.title)]
        var order: [String] = []
        let groups = Dictionary(grouping: results) { result in
            let key = "\(result.scenario) \(result.controller)"
            if !order.contains(key) { order.append(key) }
            return key
        }
        for key in order {
            guard let group = groups[key], let first = group.first else { continue }
            rows.append(
                [first.scenario, first.controller]
                    + Self.columns.map { column in
                        let values = group.compactMap { $0.metrics[column.metric] }
                        guard !values.isEmpty else { return "" }
                        let mean = values.reduce(0, +) / Double(values.count)
                        return String(format: "%.\(column.decimals)f", mean)
                    })
        }
        return SummaryTable.aligned(rows, leading: 2).joined(separator: "\n")
    }
}
