import Foundation

/// The cost and the result of decoding with one effort. Fields are added, never renamed or given another unit.
struct DecodingResult: Codable, Sendable {
    var content: String
    var effort: String
    /// The tile's part of the source's width.
    var tile: String
    var kilobitsPerSecond: Double
    /// The processor time of this thread for each frame of input.
    var processorMilliseconds: Double
    /// The time as a ratio of that of full decoding.
    var ratio: Double
    /// The PSNR of the tile's luma against full decoding, in dB: over all frames, over the last second, and the least
    /// of any frame; nil if all are equal.
    var meanPSNR: Double?
    var lastPSNR: Double?
    var leastPSNR: Double?
}

/// The output of `--json`.
struct DecodingReport: Codable, Sendable {
    /// The version of this form.
    var version = 1
    var machine: BenchmarkReport.Machine
    var frames: Int
    var results: [DecodingResult] = []

    /// The table for people.
    var text: String {
        let columns = ["content", "kbit/s", "effort", "tile", "CPU ms", "ratio", "PSNR", "last second", "least"]
        func decibels(_ value: Double?) -> String { value.map { ResultTable.number($0, 1) } ?? "equal" }
        let rows = results.map { result in
            [
                result.content, ResultTable.number(result.kilobitsPerSecond, 0), result.effort, result.tile,
                ResultTable.number(result.processorMilliseconds, 3), ResultTable.number(result.ratio, 2),
                decibels(result.meanPSNR), decibels(result.lastPSNR), decibels(result.leastPSNR),
            ]
        }
        return ResultTable.aligned([columns] + rows).joined(separator: "\n")
    }
}
