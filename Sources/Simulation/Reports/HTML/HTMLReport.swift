import VectorGraphics

/// A comparison as one page without scripts, styles, fonts or pictures from elsewhere. The same comparison gives the
/// same bytes.
public struct HTMLReport: Sendable {
    public var comparison: Comparison
    public var title: String
    /// The command that made the report.
    public var command: String

    public init(_ comparison: Comparison, title: String, command: String) {
        self.comparison = comparison
        self.title = title
        self.command = command
    }

    /// Returns the number of samples of each flow for a report of `count` runs: a page stays below some 20 MB.
    public static func sampleCount(forRuns count: Int) -> Int {
        min(max(100_000 / max(count, 1), 60), 600)
    }

    public var text: String {
        """
        <!DOCTYPE html>
        <html lang="en"><head><meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>\(XMLText.escaped(title))</title>
        <style>
        \(HTMLStyle.css)
        </style></head><body>
        <header><h1>\(XMLText.escaped(title))</h1><p class="mute"><code>\(XMLText.escaped(command))</code></p>
        <p class="mute">\(summary)</p>\(navigation)</header>
        <div class="sticky">\(legend)</div>
        <main>
        \(overview)
        \(comparison.suites.enumerated().map(suite).joined(separator: "\n"))
        </main>
        <footer><p class="mute">\(definitions)</p></footer>
        </body></html>

        """
    }

    private func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

    private var summary: String {
        let runs = comparison.cases.flatMap(\.entries).map(\.runCount).max() ?? 0
        var text = counted(comparison.cases.count, "scenario")
        text += ", " + counted(comparison.controllers.count, "controller")
        text += ", " + counted(runs, "seed")
        return text + (runs > 1 ? ": figures are means over seeds, curves those of the first one." : ".")
    }

    private var navigation: String {
        let suites = comparison.suites
        guard suites.count > 1 else { return "" }
        return "<nav>"
            + suites.enumerated().map { "<a href=\"#s\($0)\">\(XMLText.escaped(Self.name($1.name)))</a>" }
            .joined(separator: " ")
            + "</nav>"
    }

    private static func name(_ suite: String) -> String { suite.isEmpty ? "Scenarios" : suite }

    private var legend: String {
        Legend(names: comparison.controllers.enumerated().map { ($0, $1) }, area: "capacity").html
    }

    private var overview: String {
        guard comparison.cases.count > 1 || comparison.controllers.count > 1 else { return "" }
        let plot = DelayUtilisationPlot(
            comparison: comparison, cases: comparison.cases, width: 720, height: 360,
            description: "Utilisation over p95 queueing delay of all controllers in all scenarios")
        var text = "<h2>All scenarios</h2>"
        if comparison.contenders.count > 1 { text += comparison.standingsTable.html }
        text +=
            "<div class=\"row\"><figure class=\"large\">\(plot.svg)<figcaption>Each small mark is a controller in a "
        text +=
            "scenario, each large one a controller's mean. Better is up and to the left.</figcaption></figure></div>"
        return text + comparison.meansTable.html
    }

    private func suite(_ number: Int, _ suite: (name: String, cases: [Comparison.Case])) -> String {
        var text = "<h2 id=\"s\(number)\">\(XMLText.escaped(Self.name(suite.name)))</h2>"
        if comparison.suites.count > 1, suite.cases.count > 1 {
            let plot = DelayUtilisationPlot(
                comparison: comparison, cases: suite.cases,
                description: "Utilisation over p95 queueing delay in \(suite.name)")
            text += "<div class=\"row\"><figure>\(plot.svg)</figure></div>"
        }
        return text + suite.cases.map(card).joined(separator: "\n")
    }

    private func card(_ item: Comparison.Case) -> String {
        let plots = CasePlots(comparison: comparison, item: item)
        var text = "<section class=\"card\"><h3>\(XMLText.escaped(item.scenario))</h3>"
        if let result = item.entries.first?.result {
            let parts = [
                result.title, result.reference.isEmpty ? "" : "(\(result.reference))",
                result.expectation.isEmpty ? "" : "Expected: \(result.expectation)",
            ]
            let line = parts.filter { !$0.isEmpty }.joined(separator: " ")
            if !line.isEmpty { text += "<p class=\"mute\">\(XMLText.escaped(line))</p>" }
        }
        return text + plots.html + plots.flowsHTML + figures(item) + "</section>"
    }

    /// Returns a table with a row for each controller.
    private func figures(_ item: Comparison.Case) -> String {
        let columns = MetricColumn.long
        let isMarked = item.entries.contains(where: \.isOnFront)
        let rows = item.entries.map { entry in
            [entry.controller] + (isMarked ? [Comparison.mark(entry)] : []) + columns.map { $0.text(entry.metrics) }
        }
        return ReportTable(
            heading: ["controller"] + (isMarked ? ["front"] : []) + columns.map(\.title), rows: rows,
            leading: isMarked ? 2 : 1
        ).withoutEmptyColumns.html
    }

    private var definitions: String {
        """
        ●: on the Pareto front of its scenario: no other controller is at least as good in utilisation, p95 queueing \
        delay and frames late or lost, and better in one of them; oracle and fixed are a scale and take no part. ★: \
        the highest score, 100 × utilisation × 100 ms / (100 ms + p95 queueing delay) × (frames in time)². Frames are \
        late over 200 ms after their capture. Delays are on logarithmic axes; a curve's point is the largest of its \
        span.
        """
    }
}
