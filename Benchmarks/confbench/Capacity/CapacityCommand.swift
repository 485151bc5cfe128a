import ArgumentParser
import Foundation

/// The number of participants that a machine can hold, with several ways of serving them.
struct CapacityCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "capacity",
        abstract: "Measures how many participants are held with every tick on time, beside GStreamer doing the same.",
        discussion: """
            Everyone sends 640x360 at 30 frames a second and receives 1280x720 at 1.5 Mbit/s, both with SRTP. The \
            relay is measured with adaptation and, unless --no-audio is given, with audio; GStreamer (compositor, \
            x264enc) without. The clients run on the same machine. Each run measures every way with every number of \
            participants once, so that a drift of the machine meets all alike; the table has medians, and in \
            parentheses the lowest and the highest run.

            Each picture bears its sender and its number. After a conference, one viewer's pictures are decoded: the \
            time from the last packet of a sent frame to the last packet of the first received frame that shows it is \
            the latency ("p50", "p95"; the relay's own account of its delay is "own"), and the tiles are compared with \
            what was sent ("PSNR" in dB, "SSIM"). "kbit/s" is the viewer's video. "floor": cores of bare libavcodec, \
            libyuv and OpenH264 for the same video; "ratio": cores over floor.

            The table goes to standard output, progress to standard error. Benchmarks/results.md explains the columns.

            Exit codes: 0 measured; 64 wrong usage; 70 a program failed; 74 an output file cannot be written.
            """)

    @Option(help: ArgumentHelp("Participants of each conference.", valueName: "n,n,…"))
    var participants = ParticipantCounts(values: [4, 9, 12, 16, 25, 36])

    @Option(help: ArgumentHelp("What to measure: \(CapacityWay.allNames).", valueName: "way,way,…"))
    var ways = CommaSeparated<CapacityWay>(values: CapacityWay.allCases)

    @Option(
        help: ArgumentHelp(
            "Files that senders show, in turn: raw H.264 or Y4M, encoded before. Default: a test scene.",
            valueName: "FILE,FILE,…"))
    var video: String?

    @Flag(help: "Nobody sends audio, so that the relay's work is that of GStreamer and of the floor.")
    var noAudio = false

    @Option(help: ArgumentHelp("The number of times that each is measured.", valueName: "n"))
    var runs = 3

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
        guard (1...100).contains(runs) else { throw ValidationError("--runs is \(runs); use 1 to 100") }
    }

    func run() async throws {
        try await BenchmarkOutput.write(json: json, measuring: measure) { CapacityRow.table($0.results) }
    }

    private func measure() async throws -> ResultsReport<CapacityRow> {
        let counts = participants.values.sorted()
        Progress.say("encoding the clips that everyone sends")
        let directory = try ScratchDirectory()
        defer { directory.remove() }
        let files = video?.split(separator: ",").map(String.init) ?? []
        let clips = try Footage(files: files, in: directory).clips(senders: counts.last ?? 0)
        var report = ResultsReport<CapacityRow>(machine: .current())
        var series = CapacitySeries(measuresAll: all)
        for run in 1...runs {
            for way in ways.values {
                for count in counts where series.isWanted(way, participants: count) {
                    Progress.say("run \(run) of \(runs): \(way.rawValue), \(count) participants")
                    let result = try await measure(way, clips: Array(clips.prefix(count)))
                    series.add(result)
                    Progress.say(result.summary)
                }
            }
        }
        report.results = series.rows
        return report
    }

    /// Measures one conference, with a participant for each clip, and the floor right before and after it.
    private func measure(_ way: CapacityWay, clips: [TestClip]) async throws -> CapacityResult {
        func floor() throws -> FloorCost {
            try BareFloor.measure(
                clips: clips, tileCount: way.tileCount(participants: clips.count),
                encoderCount: way.encoderCount(participants: clips.count), preset: way.encoderPreset)
        }
        let before = try floor()
        var (result, work) = try await conference(way, clips: clips)
        result.add(before + (try floor()), for: work)
        return result
    }

    private func conference(_ way: CapacityWay, clips: [TestClip]) async throws -> (CapacityResult, WorkRate) {
        guard let options = way.relayOptions else {
            return try await GStreamerCapacity(
                way: way, participants: clips.count, clips: clips, duration: duration
            ).run()
        }
        return try await RelayCapacity(
            way: way, options: options, participants: clips.count, clips: clips, hasSound: !noAudio, duration: duration
        ).run()
    }
}
