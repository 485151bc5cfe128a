import ArgumentParser
import Foundation

/// Reduced decoding for tiles that are smaller than their source: the time that it saves, and its effect on the
/// picture.
struct DecodingCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decoding",
        abstract: "Measures decoding without the loop filter and without frames that no other refers to.",
        discussion: """
            640x360 streams with one keyframe, in two temporal layers, each decoded with every effort in turns of a \
            few frames on one thread. Qualities are those of the tile, against the same tile of what is decoded in \
            full. The table goes to standard output, progress to standard error. docs/uplinks.md explains it.

            Exit codes: 0 measured; 64 wrong usage; 70 a codec failed; 74 an output file cannot be written.
            """)

    @Option(help: ArgumentHelp("Frames of each stream.", valueName: "count"))
    var frames = 300

    @Option(help: ArgumentHelp("How often each stream is decoded.", valueName: "count"))
    var rounds = 8

    @Option(help: ArgumentHelp("Write the results as JSON as well.", valueName: "FILE"))
    var json: String?

    func validate() throws {
        guard (30...3000).contains(frames) else { throw ValidationError("--frames is \(frames); use 30 to 3000") }
        guard (1...100).contains(rounds) else { throw ValidationError("--rounds is \(rounds); use 1 to 100") }
    }

    func run() async throws {
        try BenchmarkRun.write(json: json, measuring: measure, table: \.text)
    }

    private func measure() throws -> DecodingReport {
        var report = DecodingReport(machine: .current(), frames: frames)
        for content in DecodingContent.allCases {
            Progress.say("encoding \(content.rawValue)")
            let measurement = try DecodingMeasurement(content, frames: frames)
            Progress.say("decoding \(content.rawValue)")
            report.results += try measurement.run(rounds: rounds)
        }
        return report
    }
}
