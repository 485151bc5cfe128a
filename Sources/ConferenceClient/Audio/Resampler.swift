import Foundation

/// Changes the sample rate of a whole recording with a windowed sinc, band-limited to the lower of both rates.
enum Resampler {
    /// The sinc's zero crossings on each side.
    private static let halfWidth = 16

    static func resample(_ samples: [Float], from sourceRate: Int, to targetRate: Int) -> [Float] {
        guard sourceRate != targetRate, sourceRate > 0, targetRate > 0 else { return samples }
        let ratio = Double(sourceRate) / Double(targetRate)
        let cutoff = min(1, 1 / ratio)
        let reach = Int((Double(halfWidth) / cutoff).rounded(.up))
        let count = Int(Double(samples.count) / ratio)
        return (0..<count).map { index in
            let position = Double(index) * ratio
            let centre = Int(position)
            var sum = 0.0
            for tap in max(0, centre - reach + 1)...min(samples.count - 1, max(0, centre + reach)) {
                let distance = (Double(tap) - position) * cutoff
                guard abs(distance) < Double(halfWidth) else { continue }
                sum += Double(samples[tap]) * sinc(distance) * window(distance / Double(halfWidth)) * cutoff
            }
            return Float(min(max(sum, -1), 1))
        }
    }

    private static func sinc(_ x: Double) -> Double {
        abs(x) < 1e-9 ? 1 : sin(.pi * x) / (.pi * x)
    }

    /// The Hann window over −1…1.
    private static func window(_ x: Double) -> Double { 0.5 + 0.5 * cos(.pi * x) }
}
