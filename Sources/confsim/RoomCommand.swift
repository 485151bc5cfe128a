import ArgumentParser
import Conference
import CongestionControl
import Foundation
import LinkEmulation
import MediaCore
import RoomAPI
import Simulation

/// `confsim room`: compares receivers that share a few encoders with receivers that have an encoder each.
struct RoomCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "room",
        abstract: "Runs a room whose receivers share encoders, and compares it with an encoder for each.",
        discussion: """
            The relay's own code runs, from the receivers' feedback to the packets of their pictures; only the \
            encoders are modelled. The same room runs twice: with --encoders, and with an encoder for each. Each \
            trace is a receiver; without traces, --receivers have the link of --link, or generated traces.

            Exit codes: 0 done, 64 wrong usage, 66 an input that cannot be read or understood, \
            73 an output that cannot be written.
            """)

    @Argument(help: "Network traces in mahimahi's format, one per receiver.")
    var traces: [String] = []

    @Option(
        help: ArgumentHelp("The link of all receivers, or its properties besides the traces.", valueName: "link"))
    var link: String?

    @Option(help: ArgumentHelp("Number of receivers without traces.", valueName: "n"))
    var receivers = 16

    @Option(help: ArgumentHelp("Maximum of encoders.", valueName: "n"))
    var encoders = 4

    @Option(help: "How long to simulate, such as 60s.", transform: OptionValue.duration)
    var duration: Duration = .seconds(60)

    @Option(help: "Time at the beginning that is not counted. Default: 5s.", transform: OptionValue.duration)
    var warmUp: Duration = .seconds(5)

    @Option(help: "Highest rate of a receiver. Default: 2.5M.", transform: OptionValue.rate)
    var max: BitRate = .kilobits(2500)

    @Option(
        help: ArgumentHelp("The room's picture.", valueName: "WxH"), transform: OptionValue.pictureSize)
    var canvas = VideoDimensions(width: 1280, height: 720)

    @Option(help: ArgumentHelp("Pictures a second, from 5 to 60.", valueName: "n"))
    var frameRate = 30

    @Option(
        help: ArgumentHelp(
            "Number of a receiver, from 1, that loses 30 % of its packets and requests keyframes endlessly.",
            valueName: "n"))
    var broken: Int?

    @Option(help: "Seed of all random numbers.")
    var seed: UInt64 = 1

    @Option(help: ArgumentHelp("Write the figures to this file as JSON.", valueName: "file"))
    var json: String?

    @Option(
        help: ArgumentHelp(
            "Write the groups of each second, with shared encoders, to this file as CSV.", valueName: "file"))
    var samples: String?

    func validate() throws {
        guard (1...49).contains(receivers), traces.count <= 49 else {
            throw ValidationError("There must be from 1 to 49 receivers.")
        }
        guard (1...49).contains(encoders) else { throw ValidationError("--encoders must be from 1 to 49.") }
        guard (5...60).contains(frameRate) else { throw ValidationError("--frame-rate must be from 5 to 60.") }
        guard warmUp >= .zero, duration >= warmUp + .seconds(1) else {
            throw ValidationError("--duration must be at least a second longer than --warm-up.")
        }
        guard max > .kilobits(300) else { throw ValidationError("--max must be above 300k.") }
        let count = traces.isEmpty ? receivers : traces.count
        if let broken, !(1...count).contains(broken) {
            throw ValidationError("--broken must be from 1 to \(count).")
        }
    }

    func run() throws {
        var parameters = RoomSimulationParameters(
            receivers: try members(), duration: duration, maximumEncoders: encoders)
        parameters.warmUp = warmUp
        parameters.rateLimits.maximum = max
        parameters.seed = seed
        parameters.canvas = canvas
        parameters.frameRate = frameRate
        if let broken {
            parameters.receivers[broken - 1].downlink.loss = .bernoulli(0.3)
            parameters.receivers[broken - 1].pleads = true
        }
        try Output.check([json, samples])
        var rows = CSVText.line([
            "time", "receiver", "target", "group", "group_rate", "width", "frame_rate", "layers_dropped",
            "keyframe_requests",
        ])
        let shared = try report(parameters) { snapshot, time in
            if samples != nil { rows += Self.sample(snapshot, time) }
        }
        parameters.maximumEncoders = nil
        let comparison = RoomComparison(shared: shared, dedicated: try report(parameters))
        if let samples { try Output.write(rows, to: samples) }
        if let json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            try Output.write(try encoder.encode(comparison), to: json)
        }
        try Output.writeResult(
            "\(Self.table(comparison).text)\n\n\(Self.summary(comparison))", besides: [json, samples])
    }

    private func members() throws -> [RoomSimulationParameters.Receiver] {
        let links = try NamedLink.read(traces: traces, description: link)
        guard !links.isEmpty else {
            return RoomSimulationParameters.generatedReceivers(count: receivers, duration: duration, seed: seed)
        }
        let all = traces.isEmpty ? Array(repeating: links[0], count: receivers) : links
        return all.map { RoomSimulationParameters.Receiver(name: $0.name, downlink: $0.profile) }
    }

    private func report(
        _ parameters: RoomSimulationParameters, onSample: ((RoomSnapshot, Duration) -> Void)? = nil
    ) throws -> RoomReport {
        do throws(RoomSimulationError) {
            let simulation = try RoomSimulation(parameters)
            simulation.onSample = onSample
            return try simulation.run()
        } catch {
            throw InputError.unusable("\(error)")
        }
    }

    private static func sample(_ snapshot: RoomSnapshot, _ time: Duration) -> String {
        snapshot.participants.filter { $0.role == ParticipantRole.watch.rawValue }.map { participant in
            let downlink = participant.downlink
            return CSVText.line([
                String(format: "%.0f", time.seconds), participant.name, "\(downlink.videoBitRate)",
                downlink.group.map { "\($0)" } ?? "", "\(downlink.groupBitRate)", "\(downlink.width)",
                "\(downlink.maximumFrameRate)", "\(downlink.layersDropped)", "\(downlink.keyframeRequests)",
            ])
        }.joined()
    }

    private static func table(_ comparison: RoomComparison) -> ReportTable {
        let rows = zip(zip(comparison.shared.receivers, comparison.dedicated.receivers), comparison.shares).map {
            pair, share in
            let (shared, own) = pair
            return [
                shared.name, kilobits(own.bitRate), kilobits(shared.bitRate), String(format: "%.1f", share * 100),
                whole(own.delay95), whole(shared.delay95), String(format: "%.1f", own.frameRate),
                String(format: "%.1f", shared.frameRate), whole(own.longestGap), whole(shared.longestGap),
                "\(shared.layerDrops)", "\(shared.keyframes)", "\(shared.groupChanges)",
            ]
        }
        return ReportTable(
            heading: [
                "receiver", "own kbit/s", "shared", "%", "own p95 ms", "shared", "own fps", "shared", "own gap ms",
                "shared", "layers dropped", "keyframes", "moves",
            ], rows: rows)
    }

    private static func summary(_ comparison: RoomComparison) -> String {
        let reports = [("an encoder each", comparison.dedicated), ("shared", comparison.shared)]
        return reports.map { name, report in
            "\(name): \(report.mostEncoders) encoders at most, "
                + "\(String(format: "%.2f", report.meanEncoders)) on average, "
                + "keyframes \(String(format: "%.1f", report.keyframeShare * 100)) % of the bits, "
                + "\(report.moves) moves, \(report.rungChanges) changes of rung"
        }.joined(separator: "\n")
    }

    private static func kilobits(_ rate: Double) -> String { whole(rate / 1000) }
    private static func whole(_ value: Double) -> String { String(format: "%.0f", value) }
}
