import ArgumentParser
import Simulation

/// `confsim run`: runs scenarios under one or several controllers.
struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Runs scenarios of YAML files under one or several controllers.",
        discussion: """
            Simulations/README.md describes the format of scenarios, docs/confsim.md the figures.

            Exit codes: 0 done, 64 wrong usage, 66 an input that cannot be read or understood, \
            73 an output that cannot be written.
            """)

    @Argument(help: "Scenario files, folders of them, or suites.")
    var files: [String]

    @Option(help: ControllerList.help)
    var controller = ControllerList([.confrelay])

    @OptionGroup
    var batch: BatchOptions

    @Option(help: ArgumentHelp("Write report.html, results.json and flows.csv into this folder.", valueName: "dir"))
    var report: String?

    @Option(
        help: ArgumentHelp("Write the plots of each scenario into this folder, an SVG file each.", valueName: "dir"))
    var plots: String?

    @Option(help: ArgumentHelp("Write all results to this file as JSON.", valueName: "file"))
    var json: String?

    @Option(help: ArgumentHelp("Write all flows' figures to this file as CSV.", valueName: "file"))
    var csv: String?

    @Flag(help: "Leave the samples out of the JSON.")
    var noSamples = false

    func run() async throws {
        let scenarios = try ScenarioLoader(only: batch.only).scenarios(files)
        try Output.check([json, csv])
        try Output.prepare(folder: report)
        try Output.prepare(folder: plots)
        let shownSamples = HTMLReport.sampleCount(forRuns: scenarios.count * controller.kinds.count)
        let limit = json != nil && !noSamples ? nil : report != nil || plots != nil ? shownSamples : 0
        let results = try await SimulationBatch(
            jobs: batch.jobs(scenarios, controller.kinds, sampleLimit: limit), parallelism: batch.jobs
        ).run().map(\.result)
        if let json {
            try Output.write(Output.json(noSamples ? results.map { $0.reduced(toSamples: 0) } : results), to: json)
        }
        if let csv { try Output.write(FlowTable(results).csv, to: csv) }
        let shown = results.map { $0.reduced(toSamples: shownSamples) }
        if let report { try Output.writeReport(shown, title: title(scenarios), command: command, folder: report) }
        if let plots { try Output.writePlots(results, folder: plots) }
        try Output.writeResult(Comparison(results).scenarioTable.text, besides: [json, csv])
    }

    private func title(_ scenarios: [Scenario]) -> String {
        scenarios.count == 1 ? scenarios[0].name : "\(scenarios.count) scenarios"
    }

    private var command: String {
        "confsim run \(files.joined(separator: " ")) --controller \(controller.names)\(batch.command)"
    }
}
