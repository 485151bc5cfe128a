import ArgumentParser
import ConferenceClient
import Foundation

/// The number of participants that a machine can hold, with several ways of serving them.
struct CapacityCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "capacity",
        abstract: "Measures how many participants are held with every tick on time, beside GStreamer doing the same.",
        discussion: """
            Everyone sends 640x360 at 30 frames a second and receives 1280x720 at 1.5 Mbit/s. The relay is measured \
            with SRTP, audio and adaptation, GStreamer (compositor, x264enc) without any of these. The clients run on \
            the same machine. The table goes to standard output, progress to standard error. Benchmarks/results.md \
            explains the columns.

            Exit codes: 0 measured; 64 wrong usage; 70 a program failed; 74 an output file cannot be written.
            """)

    @Option(help: ArgumentHelp("Participants of each conference.", valueName: "n,n,…"))
    var participants = ParticipantCounts(values: [4, 9, 12, 16, 25, 36])

    @Option(help: ArgumentHelp("What to measure: \(CapacityWay.allNames).", valueName: "way,way,…"))
    var ways = CommaSeparated<CapacityWay>(values: CapacityWay.allCases)

    @Option(help: ArgumentHelp("How long each is measured, after warm-up.", valueName: "seconds"))
    var duration = 20

    @Flag(help: "Measure larger conferences of a way even after one was not held.")
    var all = false

    @Option(help: ArgumentHelp("Write the results as JSON as well.", valueName: "FILE"))
    var json: String?

    func validate() throws {
        guard (1...600).contains(duration) else {
            throw ValidationError("--duration is \(duration); use 1 to 600 seconds")
        }
    }

    func run() async throws {
        try await BenchmarkOutput.write(json: json, measuring: measure) { CapacityResult.table($0.results) }
    }

    private func measure() async throws -> ResultsReport<CapacityResult> {
        Progress.say("encoding the clip that everyone sends")
        let directory = try ScratchDirectory()
        defer { directory.remove() }
        let clip = try TestClip.encode()
        let clipPath = directory.path(of: "clip.h264")
        try clip.write(to: clipPath)
        var report = ResultsReport<CapacityResult>(machine: .current())
        for way in ways.values {
            for count in participants.values.sorted() {
                Progress.say("\(way.rawValue), \(count) participants")
                let result =
                    if let options = way.relayOptions {
                        try await RelayCapacity(
                            way: way, options: options, participants: count, clipPath: clipPath, duration: duration
                        ).run()
                    } else {
                        try await GStreamerCapacity(way: way, participants: count, clip: clip, duration: duration).run()
                    }
                report.results.append(result)
                Progress.say(result.summary)
                guard result.isHeld || all else { break }
            }
        }
        return report
    }
}
