import Foundation
import MediaCore
import PixelTransfer

/// Measures all variants side by side: each picture goes to one after the other, so that the machine's moods meet all
/// of them alike.
struct EncodersMeasurement {
    var content: EncoderContent
    var frames: Int
    var variants = EncoderVariant.all

    /// Every how many pictures quality is measured: it costs more than encoding.
    private static let comparisonInterval = 3

    /// One row for each variant.
    func results(at rate: BitRate) throws -> [EncoderResult] {
        let trials = try variants.map { try EncoderTrial($0, at: rate) }
        for number in 0..<frames {
            let picture = try content.picture(number)
            // Rotates the order, so that it is not always the same trial that finds the picture outside the cache.
            for index in trials.indices {
                let trial = trials[(index + number) % trials.count]
                try trial.encode(picture, number: number, isDecoded: true)
                if number % Self.comparisonInterval == 0 { try trial.compare(with: picture) }
            }
        }
        return trials.map { EncoderResult($0, content: content.name, rate: rate) }
    }

    /// The rates that follow one another, and for how many frames.
    static let steps: [(rate: BitRate, frames: Int)] = [
        (.megabits(1.5), 60), (.kilobits(500), 60), (.megabits(2), 15),
    ]
    /// Over how many frames behind a step the rate is taken.
    static let stepWindow = 15

    /// Measures how each variant follows its target down and up.
    func stepResults() throws -> [StepResult] {
        let trials = try variants.map { try EncoderTrial($0, at: Self.steps[0].rate) }
        var number = 0
        for (index, step) in Self.steps.enumerated() {
            if index > 0 { for trial in trials { try trial.setRate(step.rate) } }
            for _ in 0..<step.frames {
                let picture = try content.picture(number)
                for trial in trials { try trial.encode(picture, number: number, isDecoded: false) }
                number += 1
            }
        }
        return trials.map { StepResult($0, content: content.name) }
    }
}

extension EncoderResult {
    fileprivate init(_ trial: EncoderTrial, content: String, rate: BitRate) {
        let deviations = RateDeviation(sizes: trial.sizes, rate: rate, frameRate: Workload.frameRate)
        let total = trial.sizes.reduce(DataSize.zero, +)
        let duration = Duration.seconds(trial.sizes.count) / Workload.frameRate
        self.init(
            content: content, variant: trial.variant, targetKilobitsPerSecond: rate.kilobitsPerSecond,
            kilobitsPerSecond: BitRate(total, over: duration).kilobitsPerSecond,
            processorMilliseconds: trial.millisecondsEach, peakSignalToNoiseRatio: trial.error.psnr.y,
            structuralSimilarity: trial.similarity.value,
            structuralSimilarityDecibels: PictureQuality.decibels(ssim: trial.similarity.value),
            meanDeviation: deviations.mean, worstDeviation: deviations.worst,
            largestDeltaFrameMilliseconds: rate.duration(for: trial.largestDeltaFrame).seconds * 1000,
            framesDropped: trial.framesDropped)
    }
}

extension StepResult {
    fileprivate init(_ trial: EncoderTrial, content: String) {
        var (start, deviations) = (0, [Double]())
        for (index, step) in EncodersMeasurement.steps.enumerated() {
            if index > 0 {
                let window = trial.sizes[start...].prefix(EncodersMeasurement.stepWindow)
                deviations.append(
                    RateDeviation.of(window, from: step.rate, frameRate: Workload.frameRate))
            }
            start += step.frames
        }
        self.init(
            content: content, variant: trial.variant, deviations: deviations, keyframes: trial.keyframes)
    }
}
