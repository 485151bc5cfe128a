/// `numerator / denominator × factor`, rounded to a whole number.
struct RoundedQuotient {
    /// The value; nil if it is beyond 2⁶⁴ before the factor.
    let value: Int128?
    let isExact: Bool

    /// - Parameters:
    ///   - denominator: Positive, at most 2⁹⁴.
    ///   - factor: Positive, below 2³¹.
    init(
        of numerator: Int128, over denominator: Int128, times factor: Int128, rounding rule: FloatingPointRoundingRule
    ) {
        // The whole part and the rest are multiplied separately, so that neither product exceeds 128 bits.
        var (whole, rest) = numerator.quotientAndRemainder(dividingBy: denominator)
        if rest < 0 {
            whole -= 1
            rest += denominator
        }
        let (fraction, remainder) = (rest * factor).quotientAndRemainder(dividingBy: denominator)
        isExact = remainder == 0
        guard Int64(exactly: whole) != nil else {
            value = nil
            return
        }
        let floor = whole * factor + fraction
        guard remainder != 0 else {
            value = floor
            return
        }
        let isUp =
            switch rule {
            case .down: false
            case .up: true
            case .towardZero: floor < 0
            case .awayFromZero: floor >= 0
            case .toNearestOrAwayFromZero: remainder * 2 > denominator || (remainder * 2 == denominator && floor >= 0)
            case .toNearestOrEven: remainder * 2 > denominator || (remainder * 2 == denominator && floor % 2 != 0)
            @unknown default: false
            }
        value = isUp ? floor + 1 : floor
    }
}
