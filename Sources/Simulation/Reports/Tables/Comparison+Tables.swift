import VectorGraphics

extension Comparison {
    /// A table with a row for each scenario and controller.
    public var scenarioTable: ReportTable {
        let isMarked = contenders.count > 1
        let columns = MetricColumn.short
        let rows = cases.flatMap { item in
            item.entries.map { entry in
                [item.scenario, entry.controller] + (isMarked ? [Self.mark(entry)] : [])
                    + columns.map { $0.text(entry.metrics) }
            }
        }
        return ReportTable(
            heading: ["scenario", "controller"] + (isMarked ? ["front"] : []) + columns.map(\.title), rows: rows,
            leading: isMarked ? 3 : 2
        ).withoutEmptyColumns
    }

    static func mark(_ entry: Entry) -> String { (entry.isOnFront ? "●" : "") + (entry.isBest ? "★" : "") }

    /// A table with the means of each suite, and of all cases.
    public var meansTable: ReportTable {
        let columns = MetricColumn.means
        let all = suites
        var rows: [[String]] = []
        for (name, cases) in all + (all.count > 1 ? [("all", self.cases)] : []) {
            for standing in Standing.all(of: cases, controllers: controllers) {
                rows.append(
                    [name.isEmpty ? "–" : name, standing.controller, "\(standing.caseCount)"]
                        + columns.map { $0.text(standing.metrics) })
            }
        }
        return ReportTable(
            heading: ["suite", "controller", "scenarios"] + columns.map(\.title), rows: rows, leading: 2
        ).withoutEmptyColumns
    }

    /// A table with the number of cases in which each controller is on the front, has the best score and is ahead of
    /// each other controller.
    public var standingsTable: ReportTable {
        let standings = Standing.all(of: cases, controllers: controllers)
        let rows = standings.map { standing in
            [
                standing.controller, NumberText.fixed(standing.metrics[.score], 1),
                standing.frontCount.map { "\($0) of \(standing.caseCount)" } ?? "–",
                standing.bestCount.map { "\($0)" } ?? "–",
            ] + controllers.map { other in standing.aheadOf[other].map { "\($0)" } ?? "–" }
        }
        return ReportTable(
            heading: ["controller", "mean score", "on the front", "best score"] + controllers.map { "ahead of \($0)" },
            rows: rows)
    }

    /// Returns a table with a row for each scenario and a column for each controller, with utilisation, p95 queueing
    /// delay and frames late or lost. Entries on the front are bold in Markdown.
    func triples(of cases: [Case]) -> ReportTable {
        let rows = cases.map { item in
            [item.scenario]
                + controllers.map { controller in
                    guard let entry = item.entry(of: controller) else { return "" }
                    let values = entry.metrics
                    let text = [
                        NumberText.fixed(values[.utilization], 0) + " %",
                        NumberText.fixed(values[.queueingDelay95], 0) + " ms",
                        NumberText.fixed(values[.framesLateOrLost], 1) + " %",
                    ].joined(separator: " · ")
                    return (entry.isOnFront ? "**\(text)**" : text) + (entry.isBest ? " ★" : "")
                }
        }
        return ReportTable(heading: ["scenario"] + controllers, rows: rows)
    }

    /// Returns a table of the cases in which a controller is not on the front, with the controllers that dominate it
    /// there.
    func dominatedTable(_ controller: String) -> ReportTable {
        let columns = [
            MetricColumn("util %", .utilization, 1), MetricColumn("queue p95 ms", .queueingDelay95, 1),
            MetricColumn("late or lost %", .framesLateOrLost, 2),
        ]
        let rows = cases.flatMap { item -> [[String]] in
            guard let own = item.entry(of: controller) else { return [] }
            return item.dominators(of: controller).map { other in
                [item.scenario, other.controller]
                    + columns.map { "\($0.text(own.metrics)) / \($0.text(other.metrics))" }
            }
        }
        return ReportTable(
            heading: ["scenario", "beaten by"] + columns.map { "\($0.title), own / theirs" }, rows: rows, leading: 2)
    }
}
