import ArgumentParser
import Foundation
import LinkEmulation
import Simulation

/// `confsim traces`: makes and describes network traces.
struct Traces: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Generates and describes network traces, and estimates them from flight recordings.",
        subcommands: [Generate.self, Describe.self, FromFlight.self])

    struct Generate: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Generates a trace in mahimahi's format for a kind of network.")

        @Option(
            help: ArgumentHelp(
                "The kind: \(TraceGenerator.Kind.allCases.map(\.rawValue).joined(separator: ", ")).",
                valueName: "kind"),
            transform: Traces.parseKind)
        var kind: TraceGenerator.Kind

        @Option(help: "Seed; the same one gives the same trace.")
        var seed: UInt64 = 1

        @Option(help: "Length, such as 120s or 120.", transform: OptionValue.duration)
        var duration: Duration = .seconds(120)

        @Option(
            name: .shortAndLong, help: ArgumentHelp("The file to write; standard output by default.", valueName: "file")
        )
        var output: String?

        func validate() throws {
            guard duration >= .seconds(1), duration <= .seconds(86_400) else {
                throw ValidationError("--duration must be from 1s to a day.")
            }
        }

        func run() throws {
            var generator = TraceGenerator(kind: kind, seed: seed)
            try Traces.write(generator.trace(duration: duration).milliseconds, to: output)
        }
    }

    struct Describe: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Describes traces: rates over a second, outages, and how long rates are correlated.")

        @Argument(help: "Traces in mahimahi's format.")
        var files: [String]

        @Option(help: ArgumentHelp("Write the figures to this file as JSON.", valueName: "file"))
        var json: String?

        func run() throws {
            let described = try zip(files, NamedLink.names(of: files)).map { path, name in
                (name: name, figures: TraceStatistics(try read(path)))
            }
            if let json {
                let encoder = JSONEncoder()
                encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
                let figures = Dictionary(
                    described.map { ($0.name, $0.figures) }, uniquingKeysWith: { first, _ in first })
                try Output.write(try encoder.encode(figures), to: json)
            }
            try Output.writeResult(table(described), besides: [json])
        }

        private func read(_ path: String) throws -> DeliveryTrace {
            let text: String
            do {
                text = try String(contentsOf: URL(fileURLWithPath: path), encoding: .utf8)
            } catch {
                throw InputError.unusable("cannot read the trace '\(path)': \(UnreadableFile.reason(error))")
            }
            do throws(LinkProfileError) {
                return try DeliveryTrace(parsing: text)
            } catch {
                throw InputError.unusable("\(path): \(error)")
            }
        }

        private func table(_ described: [(name: String, figures: TraceStatistics)]) -> String {
            let columns = [
                "trace", "s", "mean Mbit/s", "p5", "p50", "p95", "cv", "outages", "outage s", "longest s", "memory s",
            ]
            let rows = described.map { name, figures in
                [
                    name, String(format: "%.0f", figures.duration), String(format: "%.2f", figures.mean),
                    String(format: "%.2f", figures.percentile5), String(format: "%.2f", figures.median),
                    String(format: "%.2f", figures.percentile95), String(format: "%.2f", figures.variation),
                    "\(figures.outages)", String(format: "%.1f", figures.outageTime),
                    String(format: "%.1f", figures.longestOutage),
                    figures.autocorrelationTime.map { String(format: "%.1f", $0) } ?? "never",
                ]
            }
            return ReportTable(heading: columns, rows: rows).text
        }
    }

    /// Writes a trace in mahimahi's format to a file, or to standard output where none is named.
    static func write(_ milliseconds: [Int64], to path: String?) throws {
        let data = Data((milliseconds.map { "\($0)" }.joined(separator: "\n") + "\n").utf8)
        if let path { try Output.write(data, to: path) } else { try Output.writeResult(data) }
    }

    static func parseKind(_ text: String) throws -> TraceGenerator.Kind {
        guard let kind = TraceGenerator.Kind(rawValue: text) else {
            let known = TraceGenerator.Kind.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("There is no kind '\(text)'; there are \(known).")
        }
        return kind
    }
}
