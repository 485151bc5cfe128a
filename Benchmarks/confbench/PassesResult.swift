import Foundation

/// The result of one way to encode a reel. Fields are added, never renamed or given another unit.
struct PassesResult: Codable, Sendable {
    /// `single` with the target bitrate, `single, same size` with the bitrate at which it comes out as large as
    /// `passes`.
    var method: String
    var targetKilobitsPerSecond: Double
    var kilobitsPerSecond: Double
    /// The mean SSIM of luma, in dB.
    var structuralSimilarityDecibels: Double
    /// Derived from the mean squared error of luma over all frames, in dB.
    var peakSignalToNoiseRatio: Double
    var passes: Int
    /// Frames that passes behind the first encoded, as a share of all.
    var shareEncodedAnew: Double
    /// Processor time of encoding.
    var processorSeconds: Double

    /// The deviation of the rate from the target, as a share.
    var deviation: Double { kilobitsPerSecond / targetKilobitsPerSecond - 1 }

    /// The table for people.
    static func table(_ results: [PassesResult]) -> String {
        let columns = [
            "target kbit/s", "method", "kbit/s", "off target", "SSIM dB", "PSNR dB", "passes", "anew", "CPU s",
        ]
        let rows = results.map { result in
            [
                ResultTable.number(result.targetKilobitsPerSecond, 0), result.method,
                ResultTable.number(result.kilobitsPerSecond, 1),
                (result.deviation < 0 ? "" : "+") + ResultTable.number(result.deviation * 100, 2) + " %",
                ResultTable.number(result.structuralSimilarityDecibels, 2),
                ResultTable.number(result.peakSignalToNoiseRatio, 2), "\(result.passes)",
                ResultTable.number(result.shareEncodedAnew * 100, 0) + " %",
                ResultTable.number(result.processorSeconds, 1),
            ]
        }
        return ResultTable.aligned([columns] + rows).joined(separator: "\n")
    }
}

/// The output of `--json`.
struct PassesReport: Codable, Sendable {
    /// The version of this form.
    var version = 1
    var machine: BenchmarkReport.Machine
    var clips: [String]
    var width: Int
    var height: Int
    var frames: Int
    var preset: String
    var results: [PassesResult] = []
}
