import ArgumentParser
import CongestionControl
import Simulation

/// `confsim sensitivity`: measures the influence of each constant of confrelay.
struct SensitivityCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sensitivity",
        abstract: "Shows how the score changes when each constant of confrelay is multiplied.",
        discussion: """
            The constants are those of ConfrelayParameters; each is multiplied by each factor while the others stay, \
            and the table has the means over all scenarios.

            Exit codes: 0 done, 64 wrong usage, 66 an input that cannot be read or understood, \
            73 an output that cannot be written.
            """)

    @Argument(
        help: ArgumentHelp(
            "Scenario files, folders of them, or suites; \(ScenarioLoader.standardSuite) by default."))
    var paths: [String] = [ScenarioLoader.standardSuite]

    @Option(
        help: ArgumentHelp("The factors, separated by commas.", valueName: "factor,..."),
        transform: Self.parseFactors)
    var factors: [Double] = [0.5, 1.5]

    @Option(help: ArgumentHelp("Only these constants, separated by commas.", valueName: "name,..."))
    var constants: String?

    @OptionGroup
    var batch: BatchOptions

    @Option(help: ArgumentHelp("Write the table to this file as Markdown.", valueName: "file"))
    var markdown: String?

    @Option(help: ArgumentHelp("Write all figures to this file as CSV.", valueName: "file"))
    var csv: String?

    /// A constant and its factor; the first variation changes nothing.
    private struct Variation {
        var parameter: String
        var factor: Double
        var parameters: ConfrelayParameters
    }

    func validate() throws { _ = try variations() }

    func run() async throws {
        let scenarios = try ScenarioLoader(only: batch.only).scenarios(paths)
        try Output.check([markdown, csv])
        let variations = try variations()
        let jobs = variations.flatMap { variation in
            scenarios.flatMap { scenario in
                batch.seeds.map { seed in
                    SimulationBatch.Job(
                        scenario: scenario, controller: ControllerKind.confrelay.rawValue,
                        makeController: { ControllerKind.confrelay.make(for: $0, parameters: variation.parameters) },
                        seed: seed, sampleLimit: 0)
                }
            }
        }
        let outcomes = try await SimulationBatch(jobs: jobs, parallelism: batch.jobs).run()
        let count = scenarios.count * batch.runs
        let means = variations.indices.map { place in
            MetricValues.mean(of: outcomes[place * count..<(place + 1) * count].map(\.result.metrics))
        }
        let rows = zip(variations, means).dropFirst().map { variation, mean in
            Sensitivity.Row(parameter: variation.parameter, factor: variation.factor, metrics: mean)
        }
        let sensitivity = Sensitivity(standard: means[0], rows: rows)
        if let markdown {
            try Output.write(
                sensitivity.markdown(command: command, scenarioCount: scenarios.count), to: markdown)
        }
        if let csv { try Output.write(sensitivity.csv, to: csv) }
        try Output.writeResult(sensitivity.table.text, besides: [markdown, csv])
    }

    private func variations() throws -> [Variation] {
        let names = constants.map { $0.split(separator: ",").map(String.init) } ?? ConfrelayParameters.names
        var variations = [Variation(parameter: "", factor: 1, parameters: ConfrelayParameters())]
        for name in names {
            for factor in factors {
                variations.append(
                    Variation(
                        parameter: name, factor: factor,
                        parameters: try OptionValue.parameters(multiplying: [(name, factor)])))
            }
        }
        return variations
    }

    private static func parseFactors(_ text: String) throws -> [Double] {
        try text.split(separator: ",").map { part in
            guard let factor = Double(part) else {
                throw ValidationError("'\(part)' is no factor; expected numbers such as 0.5,1.5.")
            }
            return factor
        }
    }

    private var command: String {
        var text = "confsim sensitivity \(paths.joined(separator: " "))"
        text += " --factors \(factors.map { "\($0)" }.joined(separator: ","))"
        if let constants { text += " --constants \(constants)" }
        return text + batch.command
    }
}
