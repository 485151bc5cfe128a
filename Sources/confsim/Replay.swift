import ArgumentParser
import CongestionControl
import FlightRecording
import Foundation
import LinkEmulation
import MediaCore
import Simulation

/// `confsim replay`: one media flow over each given link.
struct Replay: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Sends a simulated video over a link, and shows its figures.",
        discussion: """
            The link is a network trace in mahimahi's format (each line a time in ms at which 1500 bytes may leave), \
            or described with --link: \(LinkProfile.syntax).

            Exit codes: 0 done, 64 wrong usage, 66 an input that cannot be read or understood, \
            73 an output that cannot be written.
            """)

    @Argument(help: "Network traces, one run for each.")
    var traces: [String] = []

    @Option(
        help: ArgumentHelp(
            "The link, or its properties besides the trace.",
            discussion: "With a trace, the default of its delay is 20ms.", valueName: "link"))
    var link: String?

    @Option(help: ControllerList.help)
    var controller = ControllerList([.confrelay])

    @Option(
        help: "Time to simulate, such as 60s. Default: 60s, or the length of the trace.",
        transform: OptionValue.duration)
    var duration: Duration?

    @Option(help: "Seed of all random numbers.")
    var seed: UInt64 = 1

    @Option(help: "Lowest rate. Default: 150k.", transform: OptionValue.rate)
    var min: BitRate = .kilobits(150)

    @Option(help: "Rate at the start. Default: 300k.", transform: OptionValue.rate)
    var start: BitRate = .kilobits(300)

    @Option(help: "Highest rate. Default: 8M.", transform: OptionValue.rate)
    var max: BitRate = .megabits(8)

    @Option(help: "Frames per second.")
    var frameRate = 30

    @Option(
        help: ArgumentHelp(
            "Interval of the receiver's feedback: \(FeedbackTiming.expected).",
            discussion: "Without this option, scream and nada use their own receiver's timing."
        ))
    var feedbackInterval: String?

    @OptionGroup(title: "What is sent")
    var pictures: PictureOptions

    @Option(help: "Time between samples. Default: 200ms.", transform: OptionValue.duration)
    var sampleInterval: Duration = .milliseconds(200)

    @Option(
        help: ArgumentHelp(
            "Multiply a constant of confrelay, to see its influence.",
            discussion: "The constants: \(ConfrelayParameters.names.joined(separator: ", ")).",
            valueName: "name=factor"),
        transform: Self.parseScaling)
    var scale: [FlightHeader.Scaling] = []

    @Option(help: ArgumentHelp("Write report.html, results.json and flows.csv into this folder.", valueName: "dir"))
    var report: String?

    @Option(help: ArgumentHelp("Write all results to this file as JSON.", valueName: "file"))
    var json: String?

    @Option(help: ArgumentHelp("Write the figures to this file as CSV.", valueName: "file"))
    var csv: String?

    @Option(
        help: ArgumentHelp(
            "Write the samples, with the controller's estimates, to this file as CSV.", valueName: "file"))
    var samples: String?

    @Option(
        help: ArgumentHelp(
            "Write the controller's inputs and decisions to this file, for record-replay; one link only.",
            valueName: "file"))
    var flightRecorder: String?

    func validate() throws {
        if traces.isEmpty, link == nil {
            throw ValidationError("Give a network trace, or describe a link with --link 'rate=1M,delay=40ms'.")
        }
        guard min > .zero, min <= start, start <= max else {
            throw ValidationError("--min, --start and --max must be above zero and in ascending order.")
        }
        guard (1...240).contains(frameRate) else { throw ValidationError("--frame-rate must be from 1 to 240.") }
        _ = try parameters()
        if let feedbackInterval, FeedbackTiming(parsing: feedbackInterval) == nil {
            throw ValidationError("--feedback-interval is \(feedbackInterval); expected \(FeedbackTiming.expected).")
        }
        if flightRecorder != nil {
            guard traces.count <= 1 else {
                throw ValidationError("--flight-recorder records one link; give one trace.")
            }
            guard controller.kinds.count == 1 else {
                throw ValidationError("--flight-recorder records one controller; name one.")
            }
            guard controller.kinds != [.oracle] else {
                throw ValidationError(
                    "--flight-recorder cannot record oracle: it knows the link, a recording does not.")
            }
        }
        if let duration, duration < .seconds(1) { throw ValidationError("--duration must be at least 1s.") }
        guard sampleInterval >= .milliseconds(1) else {
            throw ValidationError("--sample-interval must be at least 1ms.")
        }
    }

    func run() async throws {
        let scenarios = try NamedLink.read(traces: traces, description: link).map { scenario($0.name, $0.profile) }
        let files = [json, csv, samples, flightRecorder]
        try Output.check(files)
        try Output.prepare(folder: report)
        let flight = flightRecorder.map { _ in FlightMemory() }
        let recorder = flight.map(makeRecorder)
        let parameters = try parameters()
        let jobs = scenarios.flatMap { scenario in
            controller.kinds.map { kind in
                SimulationBatch.Job(
                    scenario: scenario, controller: kind.rawValue, makeController: maker(kind, parameters, recorder),
                    seed: seed)
            }
        }
        let outcomes = try await SimulationBatch(
            jobs: jobs, sampleInterval: sampleInterval, keepsMediaSamples: samples != nil
        ).run()
        let results = outcomes.map(\.result)
        if let json { try Output.write(Output.json(results), to: json) }
        if let csv { try Output.write(FlowTable(results).csv, to: csv) }
        if let flightRecorder, let flight, let recorder {
            recorder.finish()
            try Output.write(Data(flight.bytes), to: flightRecorder)
        }
        if let samples { try Output.write(sampleTable(outcomes).csv, to: samples) }
        if let report {
            let limit = HTMLReport.sampleCount(forRuns: results.count)
            try Output.writeReport(
                results.map { $0.reduced(toSamples: limit) }, title: "Replay", command: command, folder: report)
        }
        let comparison = Comparison(results)
        try Output.writeResult(comparison.scenarioTable.text, besides: files)
        let steps = comparison.stepTable
        if !steps.rows.isEmpty { try Output.writeResult("\n\(steps.text)", besides: files) }
        if let quality = PictureOptions.summary(results) {
            try Output.writeResult("\n\(quality)", besides: files)
        }
    }

    private func sampleTable(_ outcomes: [SimulationBatch.Outcome]) -> SampleTable {
        var table = SampleTable()
        for outcome in outcomes {
            for (flow, samples) in outcome.mediaSamples {
                table.add(
                    scenario: outcome.result.scenario, controller: outcome.result.controller, flow: flow, samples)
            }
        }
        return table
    }

    private func scenario(_ name: String, _ profile: LinkProfile) -> Scenario {
        var length = duration ?? .seconds(60)
        if duration == nil, case .trace(let trace) = profile.rate { length = trace.period }
        let limits = RateLimits(minimum: min, start: start, maximum: max)
        let encoder = EncoderModel.Configuration(frameRate: frameRate, minimum: min, maximum: max)
        var parameters = MediaFlowParameters(encoder: encoder)
        pictures.apply(to: &parameters)
        parameters.feedbackTiming = feedbackInterval.flatMap(FeedbackTiming.init(parsing:))
        return Scenario(
            name: name, duration: length,
            links: [
                .init(name: "forward", profile: profile),
                .init(name: "backward", profile: LinkProfile(delay: profile.delay)),
            ],
            flows: [
                .init(
                    name: "video", kind: .media(parameters, limits), forward: ["forward"], backward: ["backward"])
            ])
    }

    private func maker(
        _ kind: ControllerKind, _ parameters: ConfrelayParameters, _ recorder: FlightRecorder?
    ) -> @Sendable (ControllerContext) -> SimulatedController {
        { context in
            var made = kind.make(for: context, parameters: parameters)
            if let recorder { made.controller = RecordingController(made.controller, recorder: recorder) }
            return made
        }
    }

    private func makeRecorder(into flight: FlightMemory) -> FlightRecorder {
        FlightRecorder(
            header: FlightHeader(
                controller: controller.names, limits: RateLimits(minimum: min, start: start, maximum: max),
                scaling: scale, start: .zero, packetOverhead: .datagramHeaders(isIPv6: false),
                program: "confsim replay"),
            limit: Self.flightRecorderLimit, sink: flight)
    }

    /// The size limit of a recording, which stays in memory: its duration alone does not limit its size.
    private static let flightRecorderLimit = DataSize(bytes: 1_000_000_000)

    private var command: String {
        var text = "confsim replay"
        for trace in traces { text += " \(URL(fileURLWithPath: trace).lastPathComponent)" }
        if let link { text += " --link '\(link)'" }
        text += " --controller \(controller.names) --seed \(seed)"
        for item in scale { text += " --scale \(item.name)=\(item.factor)" }
        return text
    }

    /// The constants of confrelay with the factors of `--scale`.
    private func parameters() throws -> ConfrelayParameters {
        try OptionValue.parameters(multiplying: scale.map { ($0.name, $0.factor) })
    }

    private static func parseScaling(_ text: String) throws -> FlightHeader.Scaling {
        let parts = text.split(separator: "=", maxSplits: 1)
        guard parts.count == 2, let factor = Double(parts[1]) else {
            throw ValidationError(
                "'\(text)' is not understood; expected a constant and a factor such as drainTime=1.5.")
        }
        return FlightHeader.Scaling(name: String(parts[0]), factor: factor)
    }
}
