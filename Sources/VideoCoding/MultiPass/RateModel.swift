import Glibc
import MediaCore

/// Predicts the size and the distortion of a group of pictures from its rate factor.
///
/// Between two encodings of the group both are assumed to be exponential: with each step of the rate factor the size
/// falls and the distortion grows by a constant share. Beyond all encodings the steepness comes from the group's own
/// encodings and from usual values. Noise falls off so steeply where its coefficients become zero that a single
/// steepness overshoots the target from both sides in turn; two encodings, one on each side, enclose it.
struct RateModel {
    /// The change of the logarithms of size and distortion per step of the rate factor.
    struct Steepness {
        var size: Double
        var distortion: Double

        /// The usual values of x264: half the size every 5.5 steps, and nearly half a decibel of SSIM each.
        static let usual = Steepness(size: 0.125, distortion: 0.1)
        fileprivate static let bounds = 0.02...0.5

        /// The logarithm of the reduction of distortion by one more byte at `point`.
        func logarithmicSlope(at point: Point) -> Double {
            log(distortion * point.distortion) - log(size * point.size)
        }
    }

    /// An encode as a point of the model.
    struct Point {
        var rateFactor: Double
        /// The size in bytes.
        var size: Double
        /// The sum over all frames of 1 − SSIM.
        var distortion: Double
    }

    /// The model that a stream's groups share.
    struct Population {
        var steepness: Steepness
        /// The logarithmic slope that a group would have at rate factor 0, going by the mean of all bytes.
        var intercept: Double

        init(_ groups: [[PassMeasurement]]) {
            steepness = RateModel.steepness(of: groups, usual: .usual)
            let points = groups.compactMap(\.last?.point)
            intercept = 0
            let sum = points.reduce(0) {
                $0 + $1.size * (steepness.logarithmicSlope(at: $1) - slope(at: $1.rateFactor))
            }
            intercept = sum / max(1, points.reduce(0) { $0 + $1.size })
        }

        /// The logarithmic slope of a group of which only the rate factor is known.
        func slope(at rateFactor: Double) -> Double {
            intercept + (steepness.size + steepness.distortion) * rateFactor
        }
    }

    /// The encode that stands.
    let anchor: Point
    let steepness: Steepness
    /// The encodings by rate factor; of two with the same factor the later one.
    private let points: [Point]
    /// The logarithm of the reduction of distortion by one more byte at the group's present size.
    let logarithmicSlope: Double

    /// The weight of the usual steepness, in squared steps of encodings.
    private static let priorWeight = 2.0
    /// The weight of the assumed slope, in squared steps of encodings.
    private static let slopePriorWeight = 4.0
    /// The weight of the ratio of distortion and size in the slope while the steepness is not known. The encoder's own
    /// rate factor gives the rest: by its design pictures with the same factor have about the same slope.
    private static let ratioShare = 0.5

    init?(_ measurements: [PassMeasurement], in population: Population) {
        guard let last = measurements.last?.point else { return nil }
        anchor = last
        points = Self.sorted(measurements)
        steepness = Self.steepness(of: [measurements], usual: population.steepness)
        let reach = measurements.reduce(0) { sum, measurement in
            sum + (measurement.rateFactor - last.rateFactor) * (measurement.rateFactor - last.rateFactor)
        }
        let trust = reach / (reach + Self.slopePriorWeight)
        let presumed =
            Self.ratioShare * population.steepness.logarithmicSlope(at: last)
            + (1 - Self.ratioShare) * population.slope(at: last.rateFactor)
        logarithmicSlope = trust * steepness.logarithmicSlope(at: last) + (1 - trust) * presumed
    }

    /// The steepness of groups, from all their encodings.
    private static func steepness(of groups: [[PassMeasurement]], usual: Steepness) -> Steepness {
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

    private static func sorted(_ measurements: [PassMeasurement]) -> [Point] {
        var points: [Point] = []
        for point in measurements.map(\.point) {
            let index = points.firstIndex { $0.rateFactor >= point.rateFactor } ?? points.endIndex
            if index < points.endIndex, points[index].rateFactor == point.rateFactor {
                points[index] = point
            } else {
                points.insert(point, at: index)
            }
        }
        return points
    }

    /// The expected result of an encode with `rateFactor`.
    func point(at rateFactor: Double) -> Point {
        let next = points.firstIndex { $0.rateFactor >= rateFactor } ?? points.endIndex
        guard next > 0, next < points.endIndex else {
            let end = next == 0 ? points[0] : points[points.endIndex - 1]
            let step = rateFactor - end.rateFactor
            return Point(
                rateFactor: rateFactor, size: end.size * exp(-steepness.size * step),
                distortion: end.distortion * exp(steepness.distortion * step))
        }
        let (lower, upper) = (points[next - 1], points[next])
        let third = third(beside: next, to: rateFactor)
        func value(_ quantity: (Point) -> Double) -> Double {
            Self.interpolation(at: rateFactor, lower, upper, third, of: quantity)
        }
        return Point(rateFactor: rateFactor, size: value(\.size), distortion: value(\.distortion))
    }

    /// The encoding that is nearest to a rate factor after the two between which it lies.
    private func third(beside next: Int, to rateFactor: Double) -> Point? {
        let below = next >= 2 ? points[next - 2] : nil
        let above = next + 1 < points.endIndex ? points[next + 1] : nil
        guard let below, let above else { return below ?? above }
        return rateFactor - below.rateFactor < above.rateFactor - rateFactor ? below : above
    }

    /// A quantity between two encodings: its logarithm on the parabola through them and a third one, or on a line if
    /// the parabola leaves the range between the two.
    private static func interpolation(
        at rateFactor: Double, _ lower: Point, _ upper: Point, _ third: Point?, of quantity: (Point) -> Double
    ) -> Double {
        let (first, second) = (log(quantity(lower)), log(quantity(upper)))
        let width = upper.rateFactor - lower.rateFactor
        let slope = (second - first) / width
        let line = first + slope * (rateFactor - lower.rateFactor)
        guard let third else { return exp(line) }
        let offset = third.rateFactor - lower.rateFactor
        let bend = ((log(quantity(third)) - first) / offset - slope) / (third.rateFactor - upper.rateFactor)
        let curve = line + bend * (rateFactor - lower.rateFactor) * (rateFactor - upper.rateFactor)
        // Beyond this the parabola has its vertex between the two.
        guard abs(bend) * width <= abs(slope) else { return exp(line) }
        return exp(curve)
    }

    /// The rate factor at which a byte more takes as much off the distortion as `logarithmicSlope` says.
    func rateFactor(logarithmicSlope slope: Double) -> Double {
        anchor.rateFactor + (slope - logarithmicSlope) / (steepness.size + steepness.distortion)
    }
}

/// The result of one encode of a group of pictures.
struct PassMeasurement: Hashable {
    /// x264's constant rate factor.
    var rateFactor: Double
    var size: DataSize
    /// The sum over all frames of 1 − SSIM (luma).
    var distortion: Double

    /// The group's point. Black frames have almost no size and distortion, but logarithms need positive numbers.
    fileprivate var point: RateModel.Point {
        RateModel.Point(
            rateFactor: rateFactor, size: Double(max(size.bytes, 1)), distortion: max(distortion, 1e-6))
    }
}
