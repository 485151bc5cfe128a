import MediaCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// What the members of a group lose against an encoder of their own.
///
/// Rates are compared by their natural logarithms: distortion falls by the same step for each doubling of the rate, so
/// that a step in the logarithm is about the same step in quality wherever it is taken, and half the rate is as bad for
/// a receiver of 300 kbit/s as for one of 3 Mbit/s. The loss of a group is the sum over its members:
///
/// - A member whose network carries more than the group's rate loses the logarithm of the ratio, and what is beyond
///   15 % of its rate counts three times: one poor picture is not made good by several a little better.
/// - One whose network carries less is sent fewer frames of the upper temporal layer. It gets all the bits that it can
///   take and loses frames: this, too, counts by the logarithm of the ratio, and is possible as long as the lower layer
///   fits.
/// - One whose network does not carry the lower layer gets nothing. That is no plan; it may be so for a moment.
struct EncodeLoss: Sendable {
    /// The logarithm of the ratio below which a loss counts once: 85 % of one's own rate.
    private static let tolerated = -log(0.85)
    private static let steepness = 3.0
    /// What it costs to get nothing for a moment…
    private static let starving = 1.5

    /// …and after so many times in which that doubles.
    static func starving(for times: Double) -> Double { starving * pow(2, times) }
    /// How much less than a group's rate its lower temporal layer certainly fits, as a logarithm. OpenH264 spends 57 to
    /// 65 % of the bits on it.
    private static let layerSpan = -log(0.82)

    /// What a further encoder costs, as if a member lost so much: of two receivers who differ by a tenth, none is worth
    /// the time that the machine takes for a stream of its own.
    let encoder = 0.1
    /// How much more than a member's rate its group's may be, as a logarithm.
    let span: Double

    init(hasLayers: Bool) {
        span = hasLayers ? Self.layerSpan : 0
    }

    static func level(_ rate: BitRate) -> Double { log(Double(max(1, rate.bitsPerSecond))) }
    static func rate(_ level: Double) -> BitRate { BitRate(bitsPerSecond: exp(level)) }

    /// What a member loses in a group whose rate is so much lower than its own.
    func below(_ difference: Double) -> Double {
        difference <= Self.tolerated
            ? difference : Self.tolerated + Self.steepness * (difference - Self.tolerated)
    }

    /// What one member loses at a rate; nil where not even the lower layer fits.
    func loss(of level: Double, at rate: Double) -> Double? {
        if level >= rate { return below(level - rate) }
        return rate - level <= span + 1e-9 ? rate - level : nil
    }

    /// The best rate for members whose rates are given in rising order, and what they lose then.
    ///
    /// - Parameter starving: What it costs that a member gets nothing for the moment.
    func best(for levels: [Double], starving: (Int) -> Double = { _ in .infinity }) -> (level: Double, loss: Double) {
        guard let first = levels.first else { return (0, 0) }
        var best = (level: first, loss: Double.infinity)
        for level in levels {
            // All of a member's rate, or the most that leaves it the lower layer.
            for candidate in [level, level + span] {
                let loss = loss(of: levels, at: candidate, starving: starving)
                if loss < best.loss - 1e-9 { best = (candidate, loss) }
            }
        }
        return best
    }

    /// What members lose at a rate.
    func loss(
        of levels: [Double], at rate: Double, starving: (Int) -> Double = { _ in .infinity }
    ) -> Double {
        var loss = 0.0
        for (index, level) in levels.enumerated() {
            loss += self.loss(of: level, at: rate) ?? starving(index)
        }
        return loss
    }

    /// The least that is lost by each run of members whose rates are given in rising order: `[first][last]`.
    func ofRuns(_ levels: [Double]) -> [[Double]] {
        let count = levels.count
        var best = [[Double]](repeating: [Double](repeating: .infinity, count: count), count: count)
        // The group's rate is a member's: those before it are thinned, those behind it lose quality.
        for middle in 0..<count {
            var before = [0.0]
            for first in stride(from: middle - 1, through: 0, by: -1) {
                let difference = levels[middle] - levels[first]
                guard difference <= span else { break }
                before.append(before[before.count - 1] + difference)
            }
            var behind = 0.0
            for last in middle..<count {
                behind += below(levels[last] - levels[middle])
                for (distance, loss) in before.enumerated() {
                    best[middle - distance][last] = min(best[middle - distance][last], loss + behind)
                }
            }
        }
        guard span > 0 else { return best }
        // Or the most that leaves the slowest member its lower layer.
        for first in 0..<count {
            let rate = levels[first] + span
            var loss = 0.0
            for last in first..<count {
                loss += levels[last] < rate ? rate - levels[last] : below(levels[last] - rate)
                best[first][last] = min(best[first][last], loss)
            }
        }
        return best
    }
}
