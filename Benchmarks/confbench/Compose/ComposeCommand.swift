import AllocationCounter
import ArgumentParser
import Foundation
import VideoCoding

/// Composing against the bare scaling that it is made of.
struct ComposeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compose",
        abstract: "Measures what composing costs over bare libyuv, and what it allocates.",
        discussion: """
            All do the same frames, in turns of a few frames on one thread. The table goes to standard output, \
            progress to standard error. Benchmarks/results.md explains the columns.

            Exit codes: 0 measured; 64 wrong usage; 70 a measurement failed; 74 an output file cannot be written.
            """)

    @Option(help: ArgumentHelp("How long each comparison takes, after warm-up.", valueName: "seconds"))
    var duration = 3

    @Option(help: ArgumentHelp("Write the results as JSON as well.", valueName: "FILE"))
    var json: String?

    @Option(
        help: ArgumentHelp(
            "Compose on this GPU, too: its render node, or driver:NAME.", valueName: "device"))
    var vaapiDevice: String?

    func validate() throws {
        guard (1...600).contains(duration) else {
            throw ValidationError("--duration is \(duration); use 1 to 600 seconds")
        }
        guard vaapiDevice == nil || device != nil else {
            throw ValidationError("--vaapi-device is \(vaapiDevice ?? ""); use /dev/dri/renderD128 or driver:NAME")
        }
    }

    private var device: VAAPIDevice? { vaapiDevice.flatMap(VAAPIDevice.init) }

    func run() async throws {
        try BenchmarkRun.write(json: json, measuring: measure, table: \.text)
    }

    private func measure() throws -> SessionsReport {
        Progress.say("making pictures")
        let measurement = ComposeMeasurement(device: device)
        var report = SessionsReport(
            machine: .current(), durationSeconds: duration, areAllocationsCounted: allocation_counter_is_active())
        for make in measurement.comparisons {
            let comparison = make()
            Progress.say(comparison.work)
            report.results += try comparison.run(for: .seconds(duration))
        }
        return report
    }
}
