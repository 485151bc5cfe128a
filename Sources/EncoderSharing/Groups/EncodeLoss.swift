import Glibc
package import MediaCore

/// The loss of a group's members against an encoder of their own.
///
/// Rates are compared by their natural logarithms: distortion falls by the same step for each doubling of the rate, so
/// a step in the logarithm is about the same step in quality everywhere, and half the rate is as bad for a receiver of
/// 300 kbit/s as for one of 3 Mbit/s. The loss of a group is the sum over its members:
///
/// - A member whose network carries more than the group's rate loses the logarithm of the ratio. The part beyond 15 %
///   of its rate counts three times: several slightly better pictures do not compensate for one poor picture.
/// - A member whose network carries less gets fewer frames of the upper temporal layers. It gets all the bits that it
///   can take and loses frames: this counts by the logarithm of the ratio, too, and the part beyond the uppermost layer
///   three times.
/// - A member whose network does not carry the lowest layer gets nothing. A plan never does this; it may be so for a
///   moment.
package struct EncodeLoss: Sendable {
    /// The logarithm of the ratio below which a loss counts once: 85 % of the member's own rate.
    private static let tolerated = -log(0.85)
    private static let steepness = 3.0
    /// The loss of a member that gets nothing for a moment.
    private static let starving = 1.5

    /// The loss of a member that gets nothing for longer: it doubles each time.
    static func starving(for times: Double) -> Double { starving * pow(2, times) }
    /// The share of all but the uppermost temporal layer in a group's rate, as a logarithm: OpenH264 spends 64 to 69 %
    /// of the bits on these.
    private static let layerSpan = -log(0.68)
    /// The same of the lowest layer, on which OpenH264 spends 35 to 37 %.
    private static let layerReach = -log(0.45)

    /// A difference of levels that only rounding makes.
    private static let rounding = 1e-9

    /// The price of a further encoder, as a member's loss: receivers that differ by a tenth do not justify another
    /// stream.
    package let encoder = 0.1
    /// The excess of the group's rate over a member's, as a logarithm, at which the member loses only frames of the
    /// uppermost layer.
    package let span: Double
    /// The same for it to get a picture at all.
    let reach: Double

    package init(hasLayers: Bool) {
        (span, reach) = hasLayers ? (Self.layerSpan, Self.layerReach) : (0, 0)
    }

    package static func level(_ rate: BitRate) -> Double { log(Double(max(1, rate.bitsPerSecond))) }
    package static func rate(_ level: Double) -> BitRate { BitRate(bitsPerSecond: exp(level)) }

    /// Returns the loss of a member in a group whose rate is lower than its own by this difference.
    func below(_ difference: Double) -> Double {
        difference <= Self.tolerated
            ? difference : Self.tolerated + Self.steepness * (difference - Self.tolerated)
    }

    /// Returns the loss of a member in a group whose rate is higher than its own by this difference.
    func above(_ difference: Double) -> Double {
        difference <= span ? difference : span + Self.steepness * (difference - span)
    }

    /// The loss of one member at a rate; nil if not even the lowest layer fits.
    package func loss(of level: Double, at rate: Double) -> Double? {
        if level >= rate { return below(level - rate) }
        return rate - level <= reach + Self.rounding ? above(rate - level) : nil
    }

    /// Returns the best rate for members whose rates are in rising order, with their loss.
    ///
    /// - Parameter starving: Returns the cost of a member that gets nothing for the moment.
    package func best(for levels: [Double], starving: (Int) -> Double = { _ in .infinity }) -> (
        level: Double, loss: Double
    ) {
        guard let first = levels.first else { return (0, 0) }
        var best = (level: first, loss: Double.infinity)
        for (index, level) in levels.enumerated() where index == 0 || level != levels[index - 1] {
            // All of a member's rate, or the most that leaves it all but the uppermost layer.
            for candidate in [level, level + span] {
                let loss = loss(of: levels, at: candidate, starving: starving)
                if loss < best.loss - Self.rounding { best = (candidate, loss) }
            }
        }
        return best
    }

    /// A level that the best rate for members whose rates are in rising order does not exceed; nil without members. It
    /// is found at once. Above it the slowest member gets nothing, or each loses more frames than need be.
    func bound(for levels: [Double]) -> Double? {
        guard let slowest = levels.first, let fastest = levels.last else { return nil }
        return min(slowest + reach + Self.rounding, fastest + span)
    }

    /// The loss of members at a rate.
    package func loss(
        of levels: [Double], at rate: Double, starving: (Int) -> Double = { _ in .infinity }
    ) -> Double {
        var loss = 0.0
        for (index, level) in levels.enumerated() {
            loss += self.loss(of: level, at: rate) ?? starving(index)
        }
        return loss
    }

    /// The least that is lost by each run of members whose rates are given in rising order: `[first][last]`.
    package func ofRuns(_ levels: [Double]) -> [[Double]] {
        let count = levels.count
        var best = [[Double]](repeating: [Double](repeating: .infinity, count: count), count: count)
        for middle in 0..<count {
            for rate in span > 0 ? [levels[middle], levels[middle] + span] : [levels[middle]] {
                // The loss of the members before this one, the nearest first, as far as they get anything.
                var before = [0.0]
                for level in levels[..<middle].reversed() {
                    guard let loss = loss(of: level, at: rate), let sum = before.last else { break }
                    before.append(sum + loss)
                }
                // The loss of this member and of the later ones.
                var behind = 0.0
                for last in middle..<count {
                    guard let loss = loss(of: levels[last], at: rate) else { break }
                    behind += loss
                    for (distance, loss) in before.enumerated() {
                        best[middle - distance][last] = min(best[middle - distance][last], loss + behind)
                    }
                }
            }
        }
        return best
    }
}
