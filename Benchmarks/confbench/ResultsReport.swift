/// The output of `--json` for a benchmark that has one table of results.
struct ResultsReport<Result: Codable & Sendable>: Codable, Sendable {
    /// The version of this form.
    var version = 1
    var machine: BenchmarkReport.Machine
    var results: [Result] = []
}
