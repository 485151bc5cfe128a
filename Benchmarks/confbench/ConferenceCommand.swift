import ArgumentParser
import Foundation

/// The relay against the floor of its codecs.
struct ConferenceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "conference",
        abstract: "Measures what a conference costs the relay, against the bare cost of its codecs in the same run.",
        discussion: """
            For each number of participants the relay serves that many clients; it is measured in rounds of two \
            seconds, and between the rounds, while it stands still, the codecs alone. \
            The table goes to standard output, progress to standard error. Benchmarks/results.md explains the columns.

            Exit codes: 0 measured; 64 wrong usage; 70 the relay, the clients or a codec failed; 74 an output file \
            cannot be written.
            """)

    @Option(help: ArgumentHelp("Participants of each conference.", valueName: "n,n,…"))
    var participants = ParticipantCounts(values: [2, 4, 9])

    @Option(help: ArgumentHelp("What to measure: \(ConferenceWay.allNames).", valueName: "way,way,…"))
    var ways = CommaSeparated<ConferenceWay>(values: [.personal])

    @Flag(help: "Nobody sends audio, so that the relay's work is that of the floor without it.")
    var noAudio = false

    @Option(help: ArgumentHelp("How long the relay is measured for each number, after warm-up.", valueName: "seconds"))
    var duration = 10

    @Option(help: ArgumentHelp("The relay's codec threads. Default: one for each core.", valueName: "n"))
    var workers: Int?

    @Option(help: ArgumentHelp("Write the results as JSON as well.", valueName: "FILE"))
    var json: String?

    func validate() throws {
        guard (1...600).contains(duration) else {
            throw ValidationError("--duration is \(duration); use 1 to 600 seconds")
        }
        if let workers, !(1...1024).contains(workers) {
            throw ValidationError("--workers is \(workers); use 1 to 1024")
        }
    }

    func run() async throws {
        try await BenchmarkOutput.write(json: json, measuring: measure) { ResultTable(report: $0).text }
    }

    private func measure() async throws -> BenchmarkReport {
        Progress.say("encoding the clip that every client sends")
        let directory = try ScratchDirectory()
        defer { directory.remove() }
        let clip = try TestClip.encode()
        let clipPath = directory.path(of: "clip.h264")
        try clip.write(to: clipPath)
        var report = BenchmarkReport(machine: .current(), durationSeconds: duration)
        for way in ways.values {
            for count in participants.values {
                let bench = try ConferenceBench(
                    way: way, participants: count, hasSound: !noAudio, clip: clip, clipPath: clipPath,
                    duration: duration, workers: workers)
                report.conferences.append(try await bench.run())
            }
        }
        return report
    }
}

/// The value of `--participants`: numbers with commas between them.
struct ParticipantCounts: ExpressibleByArgument, CustomStringConvertible {
    let values: [Int]

    init(values: [Int]) {
        self.values = values
    }

    init?(argument: String) {
        let parts = argument.split(separator: ",", omittingEmptySubsequences: false)
        let values = parts.compactMap { Int($0) }
        guard values.count == parts.count, !values.isEmpty, values.allSatisfy({ (2...100).contains($0) }) else {
            return nil
        }
        self.values = values
    }

    var description: String { values.map(String.init).joined(separator: ",") }
}
