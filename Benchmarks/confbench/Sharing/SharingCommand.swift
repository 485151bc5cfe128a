import ArgumentParser
import Foundation
import LinkEmulation
import MediaCore
import Simulation

/// The share of video that receivers on different networks get over real sockets from a few encoders, compared with one
/// encoder each.
struct SharingCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sharing",
        abstract: "Measures what receivers on as many networks get from few encoders, against an encoder for each.",
        discussion: """
            confrelay serves a camera to so many of confclient, each behind an emulated network of its own, for \
            --duration seconds: with an encoder for each, then with --encoders. Networks are those of \
            `confsim room`, or recorded traces, all of them times --scale, so that pictures can be as small as this \
            machine has time to decode. The table goes to standard output, progress to standard error.

            Exit codes: 0 measured; 64 wrong usage; 70 a program failed or a trace cannot be read; 74 an output file \
            cannot be written.
            """)

    @Argument(help: "Network traces, each that of a receiver. Default: generated ones.")
    var traces: [String] = []

    @Option(help: ArgumentHelp("How many receive where no traces are given.", valueName: "n"))
    var receivers = 16

    @Option(help: ArgumentHelp("The most encoders.", valueName: "n"))
    var encoders = 4

    @Option(help: ArgumentHelp("What the relay and the camera are started with.", valueName: "WxH"))
    var canvas = "640x360"

    @Option(help: ArgumentHelp("Likewise.", valueName: "n"))
    var frameRate = 15

    @Option(help: ArgumentHelp("The most that the relay sends to anybody.", valueName: "rate"))
    var maxBitrate = "500k"

    @Option(help: ArgumentHelp("How long each of the two takes.", valueName: "seconds"))
    var duration = 60

    @Option(help: ArgumentHelp("What is not counted at the beginning.", valueName: "seconds"))
    var warmUp = 10

    @Option(help: ArgumentHelp("What networks carry, as a part of what the traces say.", valueName: "part"))
    var scale = 0.2

    @Option(help: "The seed of generated networks.")
    var seed: UInt64 = 1

    @Option(help: ArgumentHelp("Write the results as JSON as well.", valueName: "FILE"))
    var json: String?

    func validate() throws {
        guard (1...49).contains(receivers), traces.count <= 49 else {
            throw ValidationError("there are from 1 to 49 receivers")
        }
        guard (1...49).contains(encoders) else { throw ValidationError("--encoders is \(encoders); use 1 to 49") }
        guard warmUp >= 0, (warmUp + 2...600).contains(duration) else {
            throw ValidationError("--duration is \(duration); use two more than --warm-up, to 600 seconds")
        }
        guard (0.01...10).contains(scale) else { throw ValidationError("--scale is \(scale); use 0.01 to 10") }
    }

    func run() async throws {
        try await BenchmarkOutput.write(json: json, measuring: measure, table: \.text)
    }

    private func measure() async throws -> SharingReport {
        let directory = try ScratchDirectory()
        defer { directory.remove() }
        let networks = try networks().enumerated().map { index, network in
            try SharingNetwork(
                name: network.name, rate: network.rate, scale: scale, duration: .seconds(duration),
                path: directory.path(of: "\(index).trace"))
        }
        let room = SharingRoom(
            networks: networks, show: .init(canvas: canvas, frameRate: frameRate, maximumBitRate: maxBitrate),
            duration: duration, warmUp: warmUp, directory: directory)
        let dedicated = try await room.run(maximumEncoders: nil)
        let shared = try await room.run(maximumEncoders: encoders)
        return SharingReport(networks: networks, dedicated: dedicated, shared: shared, warmUp: warmUp)
    }

    private func networks() throws -> [(name: String, rate: LinkRate)] {
        guard traces.isEmpty else {
            return try traces.map { path in
                do {
                    let text = try String(contentsOfFile: path, encoding: .utf8)
                    let name = URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
                    return (name, try LinkRate(parsingTrace: text))
                } catch {
                    throw BenchmarkError.system(reason: "\(path) cannot be read: \(error)")
                }
            }
        }
        let generated = RoomSimulationParameters.generatedReceivers(
            count: receivers, duration: .seconds(duration), seed: seed)
        return generated.map { ($0.name, $0.downlink.rate) }
    }
}

/// A receiver's network, written down for `confclient --downlink`.
struct SharingNetwork: Sendable {
    let name: String
    /// Its average rate.
    let capacity: BitRate
    let path: String

    /// Rates are means over such spans.
    private static let step = Duration.milliseconds(100)

    init(name: String, rate: LinkRate, scale: Double, duration: Duration, path: String) throws {
        var lines: [String] = []
        var total = 0.0
        var time = Duration.zero
        while time < duration {
            let rate = Double(rate.capacity(from: time, to: time + Self.step)?.bits ?? 0) / Self.step.seconds * scale
            lines.append("\(time.seconds),\(rate / 1e6)")
            total += rate
            time += Self.step
        }
        self.name = name
        self.path = path
        capacity = BitRate(bitsPerSecond: total / Double(lines.count))
        do {
            try (lines.joined(separator: "\n") + "\n").write(toFile: path, atomically: true, encoding: .utf8)
        } catch {
            throw BenchmarkError.system(reason: "\(path) cannot be written: \(error.localizedDescription)")
        }
    }
}
