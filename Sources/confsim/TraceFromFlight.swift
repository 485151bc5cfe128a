import ArgumentParser
import FlightRecording
import Foundation

extension Traces {
    /// `confsim traces from-flight`: estimates the link of a recorded call.
    struct FromFlight: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Estimates the link of a recorded call, as a trace in mahimahi's format.",
            discussion: """
                While packets queue, the rate of arrivals is the link's rate; otherwise it is interpolated. Capacity \
                that the call never used, and that others used, is missing. See docs/flight-recorder.md.
                """)

        @Argument(help: ArgumentHelp("A flight recording.", valueName: "call.flight"))
        var file: String

        @Option(
            name: .shortAndLong, help: ArgumentHelp("The file to write; standard output by default.", valueName: "file")
        )
        var output: String?

        func run() throws {
            var flight = try FlightFile.open(file)
            var analysis = FlightAnalysis(header: flight.header)
            while let record = try FlightFile.next(&flight, of: file) { analysis.add(record) }
            guard let estimate = FlightLinkEstimate(path: analysis.path, duration: analysis.duration) else {
                throw InputError.unusable(
                    "\(file): it tells nothing of the link: it is too short or too long, or no packet ever queued")
            }
            let seen = String(format: "%.0f", estimate.measuredPart * 100)
            InputError.note("seen in \(seen) % of the time, interpolated in the rest")
            try Traces.write(estimate.milliseconds, to: output)
        }
    }
}
