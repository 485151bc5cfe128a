import Foundation

/// A variant's results over all contents and rates, and true if it is the one to use.
///
/// The rule considers the variants that cost at most `costBudget` times as much as the cheapest one, and whose rate is
/// within `stepBound` of each new target over the 15 frames after a step without a keyframe. The best of these is the
/// one with the most structural similarity (dB) at equal rate.
struct EncoderRank: Codable, Sendable {
    /// Times the processor time of the cheapest variant.
    static let costBudget = 1.5
    /// As a share of the new target.
    static let stepBound = 0.1

    var variant: EncoderVariant
    /// The processor time of a frame, as the mean over contents and rates.
    var processorMilliseconds: Double
    /// The cost as a ratio of the cheapest variant's.
    var relativeCost = 1.0
    /// The mean over contents and rates, as they would be if the rate had been met exactly, in dB.
    var peakSignalToNoiseRatio: Double
    var structuralSimilarityDecibels: Double
    /// The largest deviation behind a step, as a share of the new target, with its sign.
    var worstStep: Double
    var keyframesAtSteps: Int
    var isEligible = false
    var isBest = false
    var isRelayDefault = false

    /// Ranks all variants; the order is that in which they were measured.
    static func ranking(
        _ results: [EncoderResult], steps: [StepResult], relayDefault: EncoderVariant
    ) -> [EncoderRank] {
        var variants: [EncoderVariant] = []
        for result in results where !variants.contains(result.variant) { variants.append(result.variant) }
        var ranks = variants.map { variant in
            EncoderRank(
                variant, results.filter { $0.variant == variant }, steps: steps.filter { $0.variant == variant })
        }
        let least = ranks.map(\.processorMilliseconds).min() ?? 0
        for index in ranks.indices {
            ranks[index].relativeCost = least > 0 ? ranks[index].processorMilliseconds / least : 1
            ranks[index].isEligible =
                ranks[index].relativeCost <= costBudget && abs(ranks[index].worstStep) <= stepBound
                && ranks[index].keyframesAtSteps == 0
            ranks[index].isRelayDefault = ranks[index].variant == relayDefault
        }
        let best = ranks.indices.filter { ranks[$0].isEligible }
            .max { ranks[$0].structuralSimilarityDecibels < ranks[$1].structuralSimilarityDecibels }
        if let best { ranks[best].isBest = true }
        return ranks
    }

    private init(_ variant: EncoderVariant, _ results: [EncoderResult], steps: [StepResult]) {
        self.variant = variant
        var (cost, noise, similarity) = (Mean(), Mean(), Mean())
        for (_, rows) in Dictionary(grouping: results, by: \.content) {
            for row in rows { cost.add(row.processorMilliseconds) }
            noise.add(Self.meanAtTarget(rows, \.peakSignalToNoiseRatio))
            similarity.add(Self.meanAtTarget(rows, \.structuralSimilarityDecibels))
        }
        processorMilliseconds = cost.value
        peakSignalToNoiseRatio = noise.value
        structuralSimilarityDecibels = similarity.value
        worstStep = steps.flatMap(\.deviations).max { abs($0) < abs($1) } ?? 0
        keyframesAtSteps = steps.reduce(0) { $0 + max(0, $1.keyframes - 1) }
    }

    /// The mean of a quality at the target rates: each value is moved along the straight line through all of them over
    /// the logarithm of the rate.
    private static func meanAtTarget(_ rows: [EncoderResult], _ quality: KeyPath<EncoderResult, Double>) -> Double {
        guard !rows.isEmpty else { return 0 }
        let count = Double(rows.count)
        let rates = rows.map { log2(max(1, $0.kilobitsPerSecond)) }
        let values = rows.map { $0[keyPath: quality] }
        let (meanRate, meanValue) = (rates.reduce(0, +) / count, values.reduce(0, +) / count)
        let spread = rates.reduce(0) { $0 + ($1 - meanRate) * ($1 - meanRate) }
        let joint = zip(rates, values).reduce(0) { $0 + ($1.0 - meanRate) * ($1.1 - meanValue) }
        let slope = spread > 0 ? joint / spread : 0
        let target = rows.reduce(0) { $0 + log2(max(1, $1.targetKilobitsPerSecond)) } / count
        return meanValue + slope * (target - meanRate)
    }
}
