import AllocationCounter
import ArgumentParser
import Foundation

/// Sessions against the codecs that they are made of.
struct SessionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sessions",
        abstract: "Measures what sessions cost over bare libavcodec and bare OpenH264, and what they allocate.",
        discussion: """
            Both do the same frames with the same settings, in turns of a few frames on one thread. The table goes to \
            standard output, progress to standard error. docs/benchmarks.md explains the columns.

            Exit codes: 0 measured; 64 wrong usage; 70 a codec failed; 74 an output file cannot be written.
            """)

    @Option(help: ArgumentHelp("How long each comparison takes, after warm-up.", valueName: "seconds"))
    var duration = 12

    @Option(help: ArgumentHelp("Write the results as JSON as well.", valueName: "FILE"))
    var json: String?

    func validate() throws {
        guard (1...600).contains(duration) else {
            throw ValidationError("--duration is \(duration); use 1 to 600 seconds")
        }
    }

    func run() async throws {
        try BenchmarkRun.write(json: json, measuring: measure, table: \.text)
    }

    private func measure() throws -> SessionsReport {
        let directory = try ScratchDirectory()
        defer { directory.remove() }
        Progress.say("making pictures")
        let measurement = try SessionsMeasurement(in: directory)
        var report = SessionsReport(
            machine: .current(), durationSeconds: duration, areAllocationsCounted: allocation_counter_is_active())
        for make in measurement.comparisons {
            let comparison = try make()
            Progress.say(comparison.work)
            report.results += try comparison.run(for: .seconds(duration))
        }
        return report
    }
}
