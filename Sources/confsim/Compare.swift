import ArgumentParser
import Simulation

/// `confsim compare`: all scenarios under all controllers.
struct Compare: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Compares controllers over many scenarios: figures, means and the Pareto front.",
        discussion: """
            ● marks controllers on the Pareto front of a scenario: no other controller is at least as good in \
            utilisation, p95 queueing delay and frames late or lost, and better in one of them. ★ marks the highest \
            score. oracle and fixed are for comparison and take no part. docs/confsim.md explains the figures.

            Exit codes: 0 done, 64 wrong usage, 66 an input that cannot be read or understood, \
            73 an output that cannot be written.
            """)

    @Argument(
        help: ArgumentHelp(
            "Scenario files, folders of them, or suites; \(ScenarioLoader.standardSuite) by default."))
    var paths: [String] = [ScenarioLoader.standardSuite]

    @Option(help: ControllerList.help)
    var controller = ControllerList(ControllerKind.allCases.filter { $0 != .fixed })

    @OptionGroup
    var batch: BatchOptions

    @Option(help: ArgumentHelp("Write report.html, results.json and flows.csv into this folder.", valueName: "dir"))
    var report: String?

    @Option(help: ArgumentHelp("Write the tables to this file as Markdown.", valueName: "file"))
    var markdown: String?

    @Option(
        help: ArgumentHelp(
            "Write a row for each scenario and controller, the means over seeds, to this file as CSV.",
            valueName: "file"))
    var csv: String?

    func run() async throws {
        let scenarios = try ScenarioLoader(only: batch.only).scenarios(paths)
        let files = [markdown, csv]
        try Output.check(files)
        try Output.prepare(folder: report)
        let limit = report == nil ? 0 : HTMLReport.sampleCount(forRuns: scenarios.count * controller.kinds.count)
        let results = try await SimulationBatch(
            jobs: batch.jobs(scenarios, controller.kinds, sampleLimit: limit), parallelism: batch.jobs
        ).run().map(\.result)
        let comparison = Comparison(results)
        if let report {
            try Output.writeReport(results, title: "Controllers compared", command: command, folder: report)
        }
        if let markdown {
            let page = MarkdownReport(comparison, command: command, subject: ControllerKind.confrelay.rawValue)
            try Output.write(page.text, to: markdown)
        }
        if let csv { try Output.write(ComparisonTable(comparison).csv, to: csv) }
        try Output.writeResult("\(comparison.scenarioTable.text)\n\n\(comparison.meansTable.text)", besides: files)
        if comparison.contenders.count > 1 {
            try Output.writeResult("\n\(comparison.standingsTable.text)", besides: files)
        }
    }

    private var command: String {
        "confsim compare \(paths.joined(separator: " ")) --controller \(controller.names)\(batch.command)"
    }
}
