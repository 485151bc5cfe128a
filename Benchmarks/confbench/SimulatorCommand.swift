import ArgumentParser
import CongestionControl
import Foundation
import LinkEmulation
import MediaCore
import Simulation

/// The cost of the network simulator.
struct SimulatorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulator",
        abstract: "Measures how fast the network simulator is: one media flow over one link, on one thread.",
        discussion: """
            The table goes to standard output, progress to standard error. docs/benchmarks.md explains the columns.

            Exit codes: 0 measured; 64 wrong usage; 74 an output file cannot be written.
            """)

    @Option(help: ArgumentHelp("How long a call to simulate, in seconds.", valueName: "s"))
    var duration = 120

    @Option(help: ArgumentHelp("How often each is run; the quickest counts.", valueName: "n"))
    var runs = 5

    @Option(help: ArgumentHelp("Write the results as JSON as well.", valueName: "FILE"))
    var json: String?

    func validate() throws {
        guard (1...3600).contains(duration) else { throw ValidationError("--duration is \(duration); use 1 to 3600") }
        guard (1...100).contains(runs) else { throw ValidationError("--runs is \(runs); use 1 to 100") }
    }

    func run() throws {
        try BenchmarkRun.write(json: json, measuring: measure) { SimulatorResult.table($0.results) }
    }

    private func measure() throws -> ResultsReport<SimulatorResult> {
        var report = ResultsReport<SimulatorResult>(machine: .current())
        for workload in SimulatorWorkload.all {
            Progress.say(workload.name)
            report.results.append(try workload.measure(duration: .seconds(duration), runs: runs))
        }
        return report
    }
}

/// A flow to simulate.
struct SimulatorWorkload: Sendable {
    var name: String
    var megabits: Double
    var repair: MediaFlowParameters.Repair
    var loss: LossModel
    var makeController: @Sendable (ControllerContext) -> SimulatedController

    private static let google: @Sendable (ControllerContext) -> SimulatedController = {
        SimulatedController(GoogleCongestionController(limits: $0.limits, now: $0.start))
    }

    private static let confrelay: @Sendable (ControllerContext) -> SimulatedController = {
        SimulatedController(ConfrelayCongestionController(limits: $0.limits, now: $0.start))
    }

    static let all = [
        SimulatorWorkload(
            name: "google, 2 Mbit/s", megabits: 2, repair: .nack, loss: 0, makeController: google),
        SimulatorWorkload(
            name: "confrelay, 2 Mbit/s", megabits: 2, repair: .nack, loss: 0, makeController: confrelay),
        SimulatorWorkload(
            name: "google, 8 Mbit/s", megabits: 8, repair: .nack, loss: 0, makeController: google),
        SimulatorWorkload(
            name: "confrelay, 8 Mbit/s", megabits: 8, repair: .nack, loss: 0, makeController: confrelay),
        SimulatorWorkload(
            name: "confrelay, 8 Mbit/s, 2 % lost", megabits: 8, repair: .nack, loss: 0.02,
            makeController: confrelay),
        SimulatorWorkload(
            name: "confrelay, 8 Mbit/s, no repair", megabits: 8, repair: .none, loss: 0, makeController: confrelay),
    ]

    /// The source begins at its full rate, and the link has a quarter more: all of it is sent.
    private func scenario(duration: Duration) -> Scenario {
        let rate = BitRate.megabits(megabits)
        let limits = RateLimits(minimum: .kilobits(150), start: rate, maximum: rate)
        let parameters = MediaFlowParameters(
            encoder: EncoderModel.Configuration(minimum: limits.minimum, maximum: rate), repair: repair)
        return Scenario(
            name: name, duration: duration,
            links: [
                .init(
                    name: "forward",
                    profile: LinkProfile(rate: .fixed(rate * 1.25), delay: .milliseconds(20), loss: loss)),
                .init(name: "backward", profile: LinkProfile(delay: .milliseconds(20))),
            ],
            flows: [
                .init(
                    name: "video", kind: .media(parameters, limits), forward: ["forward"], backward: ["backward"])
            ])
    }

    func measure(duration: Duration, runs: Int) throws -> SimulatorResult {
        let scenario = scenario(duration: duration)
        var quickest = Duration.seconds(1_000_000)
        var events = 0
        var packets = 0
        for _ in 0..<runs {
            let began = ThreadClock.now()
            var simulation = try ScenarioSimulation(scenario: scenario, seed: 1, makeController: makeController)
            let result = simulation.run(controllerName: name)
            quickest = min(quickest, ThreadClock.now() - began)
            events = result.eventCount
            packets = result.links.reduce(0) { $0 + $1.sentPackets }
        }
        return SimulatorResult(
            name: name, simulatedSeconds: duration.seconds, seconds: quickest.seconds, events: events,
            packets: packets)
    }
}

/// The cost of simulating one flow.
struct SimulatorResult: Codable, Sendable {
    var name: String
    var simulatedSeconds: Double
    /// Processor seconds of the quickest run.
    var seconds: Double
    var events: Int
    /// Given to the links, both ways.
    var packets: Int

    var eventsPerSecond: Double { seconds > 0 ? Double(events) / seconds : 0 }
    /// Simulated over processor seconds.
    var speed: Double { seconds > 0 ? simulatedSeconds / seconds : 0 }

    static func table(_ results: [SimulatorResult]) -> String {
        let columns = ["flow", "simulated s", "processor s", "events/s", "ns a packet", "times real time"]
        return ResultTable.aligned(
            [columns]
                + results.map { result in
                    [
                        result.name, ResultTable.number(result.simulatedSeconds, 0),
                        ResultTable.number(result.seconds, 3), ResultTable.number(result.eventsPerSecond, 0),
                        ResultTable.number(result.seconds * 1e9 / Double(max(result.packets, 1)), 0),
                        ResultTable.number(result.speed, 0),
                    ]
                }
        ).joined(separator: "\n")
    }
}
