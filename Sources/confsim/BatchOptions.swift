import ArgumentParser
import Foundation
import Simulation

/// The options that all commands with many simulations have in common.
struct BatchOptions: ParsableArguments {
    @Option(help: "Seed of all random numbers.")
    var seed: UInt64 = 1

    @Option(help: ArgumentHelp("Number of seeds to run, from --seed on; tables show their mean.", valueName: "n"))
    var runs = 1

    @Option(help: ArgumentHelp("Number of simulations at a time.", valueName: "n"))
    var jobs = 1

    @Option(help: ArgumentHelp("Run only scenarios with this text in their name.", valueName: "text"))
    var only: String?

    func validate() throws {
        guard (1...1000).contains(runs) else { throw ValidationError("--runs must be from 1 to 1000.") }
        guard (1...256).contains(jobs) else { throw ValidationError("--jobs must be from 1 to 256.") }
        guard seed <= UInt64.max - 1000 else { throw ValidationError("--seed is too large.") }
    }

    var seeds: Range<UInt64> { seed..<seed + UInt64(runs) }

    /// The options that affect the results, as on a command line.
    var command: String {
        var text = " --seed \(seed) --runs \(runs)"
        if let only { text += " --only \(only)" }
        return text
    }

    /// Returns a job for each scenario, controller and seed, in this order. Only jobs of the first seed keep curves.
    func jobs(
        _ scenarios: [Scenario], _ kinds: [ControllerKind], sampleLimit: Int?
    ) -> [SimulationBatch.Job] {
        scenarios.flatMap { scenario in
            kinds.flatMap { kind in
                seeds.map { seed in
                    SimulationBatch.Job(
                        scenario: scenario, controller: kind.rawValue, makeController: { kind.make(for: $0) },
                        seed: seed, sampleLimit: sampleLimit.map { seed == self.seed ? $0 : 0 })
                }
            }
        }
    }
}
