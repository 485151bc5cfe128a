import Foundation

/// The output of `--json`. Fields are added, never renamed or given another unit.
struct BenchmarkReport: Codable, Sendable {
    /// The machine on which it was measured.
    struct Machine: Codable, Sendable {
        var processors: Int
        /// The model of the first processor, if the system states it.
        var model: String?
        /// Processes that wanted to run in the minute before: other work makes both sides slower and less steady.
        var loadAverage: Double?

        static func current() -> Machine {
            let information = try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)
            let line = information?.split(separator: "\n").first { $0.hasPrefix("model name") }
            let load = try? String(contentsOfFile: "/proc/loadavg", encoding: .utf8)
            return Machine(
                processors: ProcessInfo.processInfo.activeProcessorCount,
                model: line?.split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) },
                loadAverage: load?.split(separator: " ").first.flatMap { Double($0) })
        }
    }

    /// The version of this form.
    var version = 1
    var machine: Machine
    var durationSeconds: Int
    var conferences: [ConferenceResult] = []
}
