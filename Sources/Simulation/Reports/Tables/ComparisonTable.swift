import VectorGraphics

/// The means over seeds as comma-separated values, with a row for each scenario and controller.
public struct ComparisonTable: Sendable {
    public var comparison: Comparison

    public init(_ comparison: Comparison) {
        self.comparison = comparison
    }

    public var csv: String {
        var text = CSVText.line(
            ["suite", "scenario", "controller", "runs", "front", "best"] + Metric.allCases.map(\.rawValue))
        for item in comparison.cases {
            for entry in item.entries {
                text += CSVText.line(
                    [
                        item.suite, item.scenario, entry.controller, "\(entry.runCount)", entry.isOnFront ? "1" : "0",
                        entry.isBest ? "1" : "0",
                    ] + Metric.allCases.map { NumberText.shortCell(entry.metrics[$0]) })
            }
        }
        return text
    }
}
