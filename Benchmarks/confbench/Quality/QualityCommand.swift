import ArgumentParser
import Foundation
import MediaCore
import Simulation

/// The quality that receivers see for the same processor time and on the same networks, in three ways.
struct QualityCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quality",
        abstract: "Compares what receivers on different networks see, for the same processor time, in three ways.",
        discussion: """
            The relay's own room runs on virtual time, with its controllers, real OpenH264 encoders and links that \
            carry so much. "shared" divides a few encoders among the receivers, "dedicated" gives each one of its \
            own, as small and as seldom as fits into the processor time of "shared", "minimum" encodes once at the \
            rate of the slowest network, "unlimited" gives each an encoder whatever that takes. What comes is decoded \
            and scaled to the canvas, and its luma compared with what was composed. The tables go to standard \
            output, progress to standard error. docs/benchmarks.md explains them.

            Exit codes: 0 measured; 64 wrong usage; 70 a codec failed; 74 an output file cannot be written.
            """)

    /// The rates of the networks.
    enum Networks: String, ExpressibleByArgument, CaseIterable {
        case fixed
        case generated
    }

    @Option(help: ArgumentHelp("How many receive.", valueName: "n"))
    var receivers = 9

    @Option(help: ArgumentHelp("The most encoders of \"shared\".", valueName: "n"))
    var encoders = 4

    @Option(help: "What networks carry: each a rate, from 0.25 to 3 Mbit/s, or generated traces.")
    var networks = Networks.fixed

    @Option(help: ArgumentHelp("Simulated time of each way, in seconds.", valueName: "s"))
    var duration = 16

    @Option(help: ArgumentHelp("What is not counted at the beginning, in seconds.", valueName: "s"))
    var warmUp = 6

    @Option(help: "The seed of all that is random.")
    var seed: UInt64 = 1

    @Option(help: ArgumentHelp("Ways beside \"shared\": \(Self.allWays).", valueName: "way,way,…"))
    var ways = Self.allWays

    @Option(help: ArgumentHelp("Write the results as JSON as well.", valueName: "FILE"))
    var json: String?

    /// Pictures of the content, after which it goes back.
    private static let frames = 120

    private static let allWays = CommaSeparated<QualityWay.Kind>(values: [.dedicated, .minimum, .unlimited])

    func validate() throws {
        guard (1...25).contains(receivers) else { throw ValidationError("--receivers is \(receivers); use 1 to 25") }
        guard (1...25).contains(encoders) else { throw ValidationError("--encoders is \(encoders); use 1 to 25") }
        guard (0...300).contains(warmUp) else { throw ValidationError("--warm-up is \(warmUp); use 0 to 300") }
        guard (warmUp + 2...600).contains(duration) else {
            throw ValidationError("--duration is \(duration); use two more than --warm-up, to 600")
        }
    }

    func run() async throws {
        try BenchmarkRun.write(json: json, measuring: measure, table: \.text)
    }

    private func measure() throws -> QualityReport {
        let directory = try ScratchDirectory()
        defer { directory.remove() }
        Progress.say("making \(Self.frames) pictures of a call")
        let length = Duration.seconds(duration)
        let room = QualityRoom(
            receivers: networks == .fixed
                ? QualityNetworks.fixed(count: receivers)
                : RoomSimulationParameters.generatedReceivers(count: receivers, duration: length, seed: seed),
            duration: length, warmUp: .seconds(warmUp), seed: seed,
            show: try QualityShow(try .composed(frames: Self.frames, in: directory)))
        let measurement = QualityMeasurement(room: room)
        var report = QualityReport(machine: .current())
        func add(_ way: QualityWay, _ outcome: QualityRoom.Outcome, isAffordable: Bool = true) throws {
            Progress.say("looking at \(way.name)")
            var result = try measurement.result(way, outcome)
            result.isAffordable = isAffordable
            report.results.append(result)
        }
        let shared = QualityWay.shared(encoders: encoders)
        let own = try run(shared, in: room)
        try add(shared, own)
        for size in ways.values.contains(.dedicated) ? QualityWay.sizes : [] {
            let (way, outcome) = try fitting(size, into: own, in: room)
            try add(way, outcome, isAffordable: outcome.cores <= own.cores)
        }
        for way in [QualityWay.minimum, .unlimited] where ways.values.contains(way.kind) {
            let outcome = try run(way, in: room).scaled(to: own)
            try add(way, outcome, isAffordable: outcome.cores <= own.cores)
        }
        return report
    }

    private func run(_ way: QualityWay, in room: QualityRoom) throws -> QualityRoom.Outcome {
        Progress.say("running \(way.name)")
        return try room.run(way)
    }

    /// Runs an encoder for each receiver, with pictures of `size` at the highest rate that fits another way's processor
    /// time.
    private func fitting(
        _ size: VideoDimensions, into own: QualityRoom.Outcome, in room: QualityRoom
    ) throws -> (QualityWay, QualityRoom.Outcome) {
        let scale = Double(Workload.canvas.area) / Double(size.area)
        let guess = Double(Workload.frameRate * encoders) / Double(receivers) * scale * Self.guessedPart
        var way = QualityWay.dedicated(size, frameRate: min(Workload.frameRate, max(Self.leastFrameRate, Int(guess))))
        var best: (way: QualityWay, outcome: QualityRoom.Outcome)?
        var tried: Set<Int> = []
        while true {
            tried.insert(way.frameRate)
            let outcome = try run(way, in: room).scaled(to: own)
            let fits = outcome.cores <= own.cores
            if fits, way.frameRate > best?.way.frameRate ?? 0 { best = (way, outcome) }
            let part = own.cores / outcome.cores
            // With fewer frames, each takes longer.
            var next = Int(Double(way.frameRate) * part * Self.proportion)
            next = fits ? next : min(next, way.frameRate - 1)
            next = min(Workload.frameRate, max(Self.leastFrameRate, next))
            let isDone = tried.contains(next) || (fits && next <= way.frameRate)
            if isDone || next < best?.way.frameRate ?? 0 { return best ?? (way, outcome) }
            way.frameRate = next
        }
    }

    /// The search for the frame rate of `fitting` starts at this part of the proportional rate.
    private static let guessedPart = 0.85
    /// Each further try takes this part of the rate that would fit in proportion.
    private static let proportion = 0.97
    /// The lowest frame rate that is tried.
    private static let leastFrameRate = 5
}
