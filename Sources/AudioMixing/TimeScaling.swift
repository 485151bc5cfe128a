/// Removes or inserts a piece of audio where it resembles its continuation most, so that the pitch is kept.
///
/// The piece's length is found by normalized cross-correlation, and its ends are cross-faded (WSOLA).
enum TimeScaling {
    /// The number of samples that are compared and cross-faded: 5 ms.
    static let overlap = 240
    static let minimumLag = 240
    static let maximumLag = 960

    /// A lag at which audio repeats itself, and the similarity (1: exact).
    struct Match {
        var lag: Int
        var similarity: Float
    }

    /// The lag at which the first samples are repeated best; nil if there are too few samples.
    static func bestMatch(in samples: UnsafeBufferPointer<Float>) -> Match? {
        let last = min(maximumLag, samples.count - overlap)
        guard last >= minimumLag else { return nil }
        // First coarsely, with every second sample: speech has little above 12 kHz.
        var best = Match(lag: minimumLag, similarity: -.infinity)
        for lag in stride(from: minimumLag, through: last, by: 4) {
            let value = similarity(samples, lag: lag, step: 2)
            if value > best.similarity { best = Match(lag: lag, similarity: value) }
        }
        let coarse = best.lag
        best.similarity = -.infinity
        for lag in max(minimumLag, coarse - 3)...min(last, coarse + 3) {
            let value = similarity(samples, lag: lag, step: 1)
            if value > best.similarity { best = Match(lag: lag, similarity: value) }
        }
        return best
    }

    /// Removes the first `lag` samples of `queue`, which holds at least `lag + overlap`.
    static func remove(lag: Int, from queue: inout SampleQueue) {
        queue.withSamples { samples in
            for index in 0..<overlap {
                samples[lag + index] = crossFade(samples[index], samples[lag + index], at: index, of: overlap)
            }
        }
        queue.removeFirst(lag)
    }

    /// Repeats the first `lag` samples of `queue`, which holds at least `lag + overlap`.
    static func insert(lag: Int, into queue: inout SampleQueue, scratch: inout [Float]) {
        queue.withSamples { samples in
            for index in 0..<lag { scratch[index] = samples[index] }
            for index in 0..<overlap {
                samples[index] = crossFade(samples[lag + index], samples[index], at: index, of: overlap)
            }
        }
        queue.prepend(scratch[..<lag])
    }

    /// The sample at `index` of a change from one piece of audio to another in `length` samples.
    static func crossFade(_ before: Float, _ after: Float, at index: Int, of length: Int) -> Float {
        let weight = (Float(index) + 0.5) / Float(length)
        return before * (1 - weight) + after * weight
    }

    private static func similarity(_ samples: UnsafeBufferPointer<Float>, lag: Int, step: Int) -> Float {
        var (product, energy, laggedEnergy): (Float, Float, Float) = (0, 0, 0)
        for index in stride(from: 0, to: overlap, by: step) {
            let (sample, lagged) = (samples[index], samples[lag + index])
            product += sample * lagged
            energy += sample * sample
            laggedEnergy += lagged * lagged
        }
        // All silence is alike.
        let floor: Float = 1e-9
        return (product + floor) / ((energy + floor) * (laggedEnergy + floor)).squareRoot()
    }
}
