import VectorGraphics

/// The influence of each constant of a controller on the figures.
public struct Sensitivity: Sendable {
    /// The means over all scenarios with one constant changed.
    public struct Row: Sendable {
        public var parameter: String
        public var factor: Double
        public var metrics: MetricValues

        public init(parameter: String, factor: Double, metrics: MetricValues) {
            self.parameter = parameter
            self.factor = factor
            self.metrics = metrics
        }
    }

    /// The means with no constant changed.
    public var standard: MetricValues
    public var rows: [Row]

    public init(standard: MetricValues, rows: [Row]) {
        self.standard = standard
        self.rows = rows
    }

    private static let columns = [
        MetricColumn("util %", .utilization, 1), MetricColumn("queue p95 ms", .queueingDelay95, 1),
        MetricColumn("late or lost %", .framesLateOrLost, 2), MetricColumn("residual %", .residualLoss, 2),
        MetricColumn("recovery deficit %", .recoveryDeficit, 1),
    ]

    /// A table with a row for each constant and factor, and the change of the score.
    public var table: ReportTable {
        var rows = [
            ["(none)", "1", NumberText.fixed(standard[.score], 2), ""] + Self.columns.map { $0.text(standard) }
        ]
        for row in self.rows {
            rows.append(
                [
                    row.parameter, NumberText.short(row.factor, 3), NumberText.fixed(row.metrics[.score], 2),
                    change(row),
                ] + Self.columns.map { $0.text(row.metrics) })
        }
        return ReportTable(heading: ["constant", "times", "score", "change %"] + Self.columns.map(\.title), rows: rows)
    }

    /// Returns the change of the score in percent, with its sign.
    private func change(_ row: Row) -> String {
        guard let score = row.metrics[.score], let before = standard[.score], before > 0 else { return "" }
        let change = (score / before - 1) * 100
        let text = NumberText.fixed(change, 1)
        return change >= 0 ? "+\(text)" : text
    }

    public var csv: String {
        var text = CSVText.line(["constant", "factor"] + Metric.allCases.map(\.rawValue))
        for row in [Row(parameter: "", factor: 1, metrics: standard)] + rows {
            text += CSVText.line(
                [row.parameter, NumberText.short(row.factor, 3)]
                    + Metric.allCases.map { NumberText.shortCell(row.metrics[$0]) })
        }
        return text
    }

    /// Returns the table as a Markdown page for a repository.
    public func markdown(command: String, scenarioCount: Int) -> String {
        """
        # What depends on each constant

        ```sh
        \(command)
        ```

        Means over \(scenarioCount) scenarios with one constant of confrelay multiplied. docs/confsim.md says what the \
        figures mean.

        \(table.markdown)

        """
    }
}
