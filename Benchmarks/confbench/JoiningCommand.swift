import ArgumentParser
import ConferenceClient
import Foundation

/// The time until a client has joined and sees a picture.
struct JoiningCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "joining",
        abstract: "Measures how long it takes from the POST of an offer to the first decoded picture, on loopback.",
        discussion: """
            A client joins a room with two others in it, over and over. The table goes to standard output, progress to \
            standard error. docs/benchmarks.md explains the columns.

            Exit codes: 0 measured; 64 wrong usage; 70 the relay or a client failed; 74 an output file cannot be \
            written.
            """)

    @Option(help: ArgumentHelp("How often to join with each transport.", valueName: "n"))
    var runs = 20

    @Option(help: ArgumentHelp("Write the results as JSON as well.", valueName: "FILE"))
    var json: String?

    func validate() throws {
        guard (1...1000).contains(runs) else { throw ValidationError("--runs is \(runs); use 1 to 1000") }
    }

    func run() async throws {
        try await BenchmarkOutput.write(json: json, measuring: measure) { JoiningResult.table($0.results) }
    }

    private func measure() async throws -> ResultsReport<JoiningResult> {
        let directory = try ScratchDirectory()
        defer { directory.remove() }
        let relay = try ChildProgram("confrelay", arguments: ["--port", "0", "--overload-control", "off"])
        defer { relay.end() }
        let room = try ConferenceBench.room(listening: try relay.firstLine())
        let others = try ChildProgram(
            "confclient", arguments: ["load", room.absoluteString, "--count", "2", "--quiet"])
        defer { others.end() }
        try await RoomReading.wait(in: room, for: "the room's other participants") {
            $0.participants.count == 2 && $0.sum(\.uplink.framesDecoded) > 60
        }
        var report = ResultsReport<JoiningResult>(machine: .current())
        for transport in ClientTransport.allCases {
            var joins: [ClientReport.Join] = []
            for run in 1...runs {
                Progress.say("\(transport.rawValue): join \(run) of \(runs)")
                joins.append(try join(room, transport: transport, statistics: directory.path(of: "join.json")))
            }
            report.results.append(JoiningResult(transport: transport.rawValue, joins: joins))
        }
        return report
    }

    private func join(_ room: URL, transport: ClientTransport, statistics: String) throws -> ClientReport.Join {
        let client = try ChildProgram(
            "confclient",
            arguments: [
                "join", room.absoluteString, "--name", "Joiner", "--transport", transport.rawValue, "--duration", "1",
                "--stats", statistics, "--quiet",
            ])
        try client.waitForSuccess()
        return try ClientReport.read(statistics).join
    }
}

/// The joins with one transport.
struct JoiningResult: Codable, Sendable {
    var transport: String
    var joins: [ClientReport.Join]

    /// The median of the measurements, and the longest; nil if a client never got so far.
    func figures(_ time: (ClientReport.Join) -> Double?) -> (median: Double, longest: Double)? {
        let times = joins.compactMap(time).sorted()
        guard times.count == joins.count, let longest = times.last else { return nil }
        let middle = times.count / 2
        let median = times.count.isMultiple(of: 2) ? (times[middle - 1] + times[middle]) / 2 : times[middle]
        return (median, longest)
    }

    static func table(_ results: [JoiningResult]) -> String {
        func cells(_ figures: (median: Double, longest: Double)?) -> [String] {
            guard let figures else { return ["never", "never"] }
            return [figures.median, figures.longest].map { ResultTable.number($0 * 1000, 1) }
        }
        let columns = [
            "transport", "joins", "answer ms", "longest", "connected ms", "longest", "picture ms", "longest",
        ]
        return ResultTable.aligned(
            [columns]
                + results.map { result in
                    [result.transport, "\(result.joins.count)"] + cells(result.figures(\.secondsToAnswer))
                        + cells(result.figures(\.secondsToConnect)) + cells(result.figures(\.secondsToFirstPicture))
                }
        ).joined(separator: "\n")
    }
}
