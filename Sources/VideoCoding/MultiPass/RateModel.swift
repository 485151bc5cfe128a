import Glibc
import MediaCore

/// How the size and the distortion of a group of pictures follow from the rate factor that it is encoded with.
///
/// Both are taken for exponential around the last encode: size falls and distortion grows by a constant share with each
/// step of the rate factor. The steepness is what the group's own encodes show, drawn towards what is usual.
struct RateModel {
    /// How much the logarithms of size and distortion change with the rate factor.
    struct Steepness {
        var size: Double
        var distortion: Double

        /// What is usual for x264: half the size every 5.5 steps, and nearly half a decibel of SSIM each.
        static let usual = Steepness(size: 0.125, distortion: 0.1)
        fileprivate static let bounds = 0.02...0.5
    }

    /// One encode: a point of the model.
    struct Point {
        var rateFactor: Double
        /// In bytes.
        var size: Double
        /// The sum over all frames of 1 − SSIM.
        var distortion: Double
    }

    /// The encode that stands.
    let anchor: Point
    let steepness: Steepness

    /// How many steps squared of encodes weigh as much as what is usual.
    private static let priorWeight = 2.0

    init?(_ measurements: [PassMeasurement], usual: Steepness) {
        guard let last = measurements.last else { return nil }
        anchor = last.point
        steepness = Self.steepness(of: [measurements], usual: usual)
    }

    /// What groups of pictures have in common.
    static func steepness(of groups: [[PassMeasurement]], usual: Steepness = .usual) -> Steepness {
        var (weight, size, distortion) = (priorWeight, priorWeight * usual.size, priorWeight * usual.distortion)
        for measurements in groups {
            guard let anchor = measurements.last?.point else { continue }
            for point in measurements.dropLast().map(\.point) {
                let step = point.rateFactor - anchor.rateFactor
                weight += step * step
                size -= step * log(point.size / anchor.size)
                distortion += step * log(point.distortion / anchor.distortion)
            }
        }
        let bounds = Steepness.bounds
        return Steepness(
            size: min(max(size / weight, bounds.lowerBound), bounds.upperBound),
            distortion: min(max(distortion / weight, bounds.lowerBound), bounds.upperBound))
    }

    /// What an encode with `rateFactor` would give.
    func point(at rateFactor: Double) -> Point {
        let step = rateFactor - anchor.rateFactor
        return Point(
            rateFactor: rateFactor, size: anchor.size * exp(-steepness.size * step),
            distortion: anchor.distortion * exp(steepness.distortion * step))
    }

    /// The logarithm of what a byte more would take off the distortion, where the group stands.
    var logarithmicSlope: Double {
        log(steepness.distortion * anchor.distortion) - log(steepness.size * anchor.size)
    }

    /// The rate factor at which a byte more takes as much off the distortion as `logarithmicSlope` says.
    func rateFactor(logarithmicSlope slope: Double) -> Double {
        anchor.rateFactor + (slope - logarithmicSlope) / (steepness.size + steepness.distortion)
    }
}

/// What one encode of a group of pictures gave.
struct PassMeasurement: Hashable {
    /// x264's constant rate factor.
    var rateFactor: Double
    var size: DataSize
    /// The sum over all frames of 1 − SSIM (luma).
    var distortion: Double

    /// Black frames have neither size nor distortion to speak of; logarithms need some.
    fileprivate var point: RateModel.Point {
        RateModel.Point(
            rateFactor: rateFactor, size: Double(max(size.bytes, 1)), distortion: max(distortion, 1e-6))
    }
}
