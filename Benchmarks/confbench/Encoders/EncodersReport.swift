import Foundation

/// The result of one variant at one rate. Fields are added, never renamed or given another unit.
struct EncoderResult: Codable, Sendable {
    var content: String
    var variant: EncoderVariant
    var targetKilobitsPerSecond: Double
    var kilobitsPerSecond: Double
    /// The processor time of the encoding thread for a frame.
    var processorMilliseconds: Double
    /// Derived from the mean squared error of luma, in dB.
    var peakSignalToNoiseRatio: Double
    /// The mean of luma.
    var structuralSimilarity: Double
    var structuralSimilarityDecibels: Double
    /// From the target over every second but the first, as a share: the mean of the absolute values.
    var meanDeviation: Double
    /// The largest, with its sign.
    var worstDeviation: Double
    /// The largest frame that is no keyframe, as the time it takes at the target rate.
    var largestDeltaFrameMilliseconds: Double
    var framesDropped: Int
}

/// A variant's response to changes of its target.
struct StepResult: Codable, Sendable {
    var content: String
    var variant: EncoderVariant
    /// The deviations of the mean rate over the 15 frames after each step from the new target, as a share of it.
    var deviations: [Double]
    /// The first frame among them.
    var keyframes: Int
}

/// The output of `--json`.
struct EncodersReport: Codable, Sendable {
    /// The version of this form.
    var version = 1
    var machine: BenchmarkReport.Machine
    var width: Int
    var height: Int
    var frames: Int
    var results: [EncoderResult] = []
    var steps: [StepResult] = []
    var ranking: [EncoderRank] = []

    /// The tables for people: all measurements, and the ranking.
    var text: String {
        [Self.table(results), Self.table(ranking)].joined(separator: "\n\n")
    }

    private static func table(_ results: [EncoderResult]) -> String {
        let columns = [
            "content", "kbit/s", "back end", "preset", "entropy", "got", "CPU ms", "PSNR dB", "SSIM", "SSIM dB",
            "off, mean", "off, worst", "largest, ms", "dropped",
        ]
        let rows = results.map { result in
            [
                result.content, ResultTable.number(result.targetKilobitsPerSecond, 0), result.variant.backEnd,
                result.variant.preset, result.variant.entropyMode, ResultTable.number(result.kilobitsPerSecond, 0),
                ResultTable.number(result.processorMilliseconds, 2),
                ResultTable.number(result.peakSignalToNoiseRatio, 2),
                ResultTable.number(result.structuralSimilarity, 4),
                ResultTable.number(result.structuralSimilarityDecibels, 2),
                ResultTable.percent(result.meanDeviation), ResultTable.signedPercent(result.worstDeviation),
                ResultTable.number(result.largestDeltaFrameMilliseconds, 0), "\(result.framesDropped)",
            ]
        }
        return ResultTable.aligned([columns] + rows).joined(separator: "\n")
    }

    private static func table(_ ranking: [EncoderRank]) -> String {
        let columns = [
            "back end", "preset", "entropy", "CPU ms", "times least", "PSNR dB", "SSIM dB", "step, worst", "keys",
            "within", "",
        ]
        let rows = ranking.map { rank in
            [
                rank.variant.backEnd, rank.variant.preset, rank.variant.entropyMode,
                ResultTable.number(rank.processorMilliseconds, 2), ResultTable.number(rank.relativeCost, 2),
                ResultTable.number(rank.peakSignalToNoiseRatio, 2),
                ResultTable.number(rank.structuralSimilarityDecibels, 2),
                ResultTable.signedPercent(rank.worstStep), "\(rank.keyframesAtSteps)", rank.isEligible ? "yes" : "no",
                [rank.isBest ? "best" : nil, rank.isRelayDefault ? "default" : nil].compactMap(\.self)
                    .joined(separator: ", "),
            ]
        }
        return ResultTable.aligned([columns] + rows).joined(separator: "\n")
    }
}
