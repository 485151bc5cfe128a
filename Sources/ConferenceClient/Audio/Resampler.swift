import Foundation
import MediaCore

/// Changes the sample rate of a whole recording with a windowed sinc, band-limited to the lower of both rates.
enum Resampler {
    /// The sinc's zero crossings on each side.
    private static let halfWidth = 16

    static func resample(_ samples: [Float], from sourceRate: Int, to targetRate: Int) -> [Float] {
        guard sourceRate != targetRate, sourceRate > 0, targetRate > 0 else { return samples }
        let divisor = greatestCommonDivisor(sourceRate, targetRate)
        let (step, phases) = (sourceRate / divisor, targetRate / divisor)
        let cutoff = min(1, Double(phases) / Double(step))
        let reach = Int((Double(halfWidth) / cutoff).rounded(.up))
        let count = samples.count * phases / step
        // New samples lie between old ones at so many places, in turn, each of which has a kernel.
        let kernels = (0..<min(phases, count)).flatMap { index in
            kernel(at: Double(index * step % phases) / Double(phases), cutoff: cutoff, reach: reach)
        }
        return (0..<count).map { index in
            let centre = index * step / phases
            let first = centre - reach + 1
            let row = index % phases * 2 * reach
            var sum = 0.0
            for tap in max(0, first)...min(samples.count - 1, centre + reach) {
                sum += Double(samples[tap]) * kernels[row + tap - first]
            }
            return Float(min(max(sum, -1), 1))
        }
    }

    /// The weights of `2 * reach` samples around a place, which is part of a sample behind the last one on its left.
    private static func kernel(at place: Double, cutoff: Double, reach: Int) -> [Double] {
        (1 - reach...reach).map { tap in
            let distance = (Double(tap) - place) * cutoff
            guard abs(distance) < Double(halfWidth) else { return 0 }
            return sinc(distance) * window(distance / Double(halfWidth)) * cutoff
        }
    }

    private static func sinc(_ x: Double) -> Double {
        abs(x) < 1e-9 ? 1 : sin(.pi * x) / (.pi * x)
    }

    /// The Hann window over −1…1.
    private static func window(_ x: Double) -> Double { 0.5 + 0.5 * cos(.pi * x) }
}
