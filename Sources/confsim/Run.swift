import ArgumentParser
import Foundation
import MediaCore
import NetworkSimulation
import SimulationScenarios

/// `confsim run`: scenarios under controllers.
struct Run: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Runs scenarios, which YAML files describe, under one controller or several.",
        discussion: """
            Simulations/README.md tells what a scenario's file may say and what the columns mean.

            Exit codes: 0 done, 64 wrong usage, 66 an input that cannot be read or understood, \
            73 an output that cannot be written.
            """)

    @Argument(help: "Scenario files, or folders of them.")
    var files: [String]

    @Option(help: ArgumentHelp("Controllers, separated by commas.", valueName: "name,..."))
    var controller = "google"

    @Option(help: "The seed of all that is random.")
    var seed: UInt64 = 1

    @Option(help: ArgumentHelp("How many seeds to run, from --seed on; the table shows their mean.", valueName: "n"))
    var runs = 1

    @Option(help: ArgumentHelp("Only scenarios whose name contains this.", valueName: "text"))
    var only: String?

    @Option(help: ArgumentHelp("Write all results to this file as JSON.", valueName: "file"))
    var json: String?

    @Option(help: ArgumentHelp("Write all flows' figures to this file as CSV.", valueName: "file"))
    var csv: String?

    @Flag(help: "Leave the samples out of the JSON.")
    var noSamples = false

    func validate() throws {
        _ = try controllers()
        guard (1...1000).contains(runs) else { throw ValidationError("--runs must be from 1 to 1000.") }
    }

    private func controllers() throws -> [ControllerKind] {
        try controller.split(separator: ",").map { name in
            guard let kind = ControllerKind(rawValue: String(name)) else {
                let known = ControllerKind.allCases.map(\.rawValue).joined(separator: ", ")
                throw ValidationError("There is no controller '\(name)'; there are \(known).")
            }
            return kind
        }
    }

    func run() throws {
        let scenarios = try readScenarios()
        var results: [ScenarioResult] = []
        for scenario in scenarios {
            for kind in try controllers() {
                for seed in seed..<seed + UInt64(runs) {
                    var result = try simulate(scenario, kind, seed: seed)
                    if noSamples { for flow in result.flows.indices { result.flows[flow].samples = [] } }
                    results.append(result)
                }
            }
        }
        print(ScenarioTable(results: results).text)
        if let json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            try Output.write(try encoder.encode(results), to: json)
        }
        if let csv { try Output.write(Data(FlowTable(results: results).text.utf8), to: csv) }
    }

    private func simulate(_ scenario: Scenario, _ kind: ControllerKind, seed: UInt64) throws -> ScenarioResult {
        do {
            var simulation = try ScenarioSimulation(scenario: scenario, seed: seed, makeController: kind.make)
            return simulation.run(controllerName: kind.rawValue)
        } catch {
            throw InputError.unusable("\(scenario.name): \(error)")
        }
    }

    private func readScenarios() throws -> [Scenario] {
        var scenarios: [Scenario] = []
        for (path, name) in try ScenarioFinder.files(files) {
            do throws(ScenarioError) {
                scenarios += try ScenarioFile(
                    path: path, name: name, environment: ProcessInfo.processInfo.environment
                ).scenarios
            } catch {
                throw InputError.unusable("\(error)")
            }
        }
        if let only { scenarios.removeAll { !$0.name.contains(only) } }
        guard !scenarios.isEmpty else { throw InputError.unusable("there is no scenario to run") }
        return scenarios
    }
}
