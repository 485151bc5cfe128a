import Simulation

/// Runs simulations, several in parallel. The results are in the order of the jobs.
struct SimulationBatch: Sendable {
    /// One scenario under one controller with one seed.
    struct Job: Sendable {
        var scenario: Scenario
        var controller: String
        var makeController: @Sendable (ControllerContext) -> SimulatedController
        var seed: UInt64
        /// The number of samples that are kept of each flow; nil for all.
        var sampleLimit: Int?

        /// The approximate amount of work.
        var weight: Double { (scenario.duration / .seconds(1)) * Double(scenario.flows.count) }
    }

    struct Outcome: Sendable {
        var result: ScenarioResult
        /// The samples of media flows, with the internal state of their controllers.
        var mediaSamples: [(flow: String, samples: [MediaFlowSample])] = []
    }

    var jobs: [Job]
    /// The number of simulations that run in parallel.
    var parallelism = 1
    var sampleInterval = Duration.milliseconds(200)
    var keepsMediaSamples = false

    func run() async throws -> [Outcome] {
        var outcomes = [Outcome?](repeating: nil, count: jobs.count)
        var progress = ProgressBar(total: jobs.reduce(0) { $0 + $1.weight }, count: jobs.count)
        defer { progress.finish() }
        try await withThrowingTaskGroup(of: (Int, Outcome).self) { group in
            var next = 0
            func start() {
                guard next < jobs.count else { return }
                let index = next
                next += 1
                group.addTask { (index, try simulate(jobs[index])) }
            }
            for _ in 0..<max(parallelism, 1) { start() }
            while let (index, outcome) = try await group.next() {
                outcomes[index] = outcome
                progress.advance(by: jobs[index].weight)
                start()
            }
        }
        return outcomes.compactMap { $0 }
    }

    private func simulate(_ job: Job) throws -> Outcome {
        do {
            var simulation = try ScenarioSimulation(
                scenario: job.scenario, seed: job.seed, sampleInterval: sampleInterval,
                makeCodec: SessionPictureCodec.make(_:encoder:), makeController: job.makeController)
            var outcome = Outcome(result: simulation.run(controllerName: job.controller))
            if let failure = simulation.failure { throw failure }
            if keepsMediaSamples {
                outcome.mediaSamples = job.scenario.flows.enumerated().map { index, flow in
                    (flow.name, simulation.mediaSamples(ofFlow: index))
                }
            }
            if let limit = job.sampleLimit { outcome.result = outcome.result.reduced(toSamples: limit) }
            return outcome
        } catch {
            throw InputError.unusable("\(job.scenario.name): \(error)")
        }
    }
}
