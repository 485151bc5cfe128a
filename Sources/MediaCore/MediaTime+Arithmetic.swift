extension MediaTime: AdditiveArithmetic {
    /// The sum, exact if it can be represented, otherwise rounded down.
    ///
    /// Non-numeric times behave as with CMTimeAdd: an invalid operand makes the sum invalid, and so do opposite
    /// infinities; one infinity makes it that infinity; otherwise an indefinite operand makes it indefinite.
    public static func + (left: MediaTime, right: MediaTime) -> MediaTime { left.adding(right) }

    /// The difference; `left + right` says how.
    public static func - (left: MediaTime, right: MediaTime) -> MediaTime { left.subtracting(right) }

    public static prefix func - (time: MediaTime) -> MediaTime { zero.subtracting(time) }

    /// The sum, rounded as requested if it cannot be represented exactly.
    public func adding(_ other: MediaTime, rounding rule: FloatingPointRoundingRule = .down) -> MediaTime {
        if timescale == other.timescale, isNumeric, other.isNumeric {
            let (sum, overflow) = value.addingReportingOverflow(other.value)
            if !overflow {
                return MediaTime(
                    value: sum, timescale: timescale, hasBeenRounded: hasBeenRounded || other.hasBeenRounded)
            }
        }
        return combined(with: other, sign: 1, rounding: rule)
    }

    /// The difference, rounded as requested if it cannot be represented exactly.
    public func subtracting(_ other: MediaTime, rounding rule: FloatingPointRoundingRule = .down) -> MediaTime {
        if timescale == other.timescale, isNumeric, other.isNumeric {
            let (difference, overflow) = value.subtractingReportingOverflow(other.value)
            if !overflow {
                return MediaTime(
                    value: difference, timescale: timescale, hasBeenRounded: hasBeenRounded || other.hasBeenRounded)
            }
        }
        return combined(with: other, sign: -1, rounding: rule)
    }

    /// The time multiplied by `numerator / denominator`, exact if it can be represented, otherwise rounded as
    /// requested.
    ///
    /// - Returns: An infinity if only the denominator is zero, invalid if the numerator or the time is zero too;
    ///   invalid also for an infinity multiplied by zero.
    public func multiplied(
        by numerator: Int64, over denominator: Int64 = 1, rounding rule: FloatingPointRoundingRule = .down
    ) -> MediaTime {
        let isNegative = (numerator < 0) != (denominator < 0)
        switch kind {
        case .invalid: return .invalid
        case .indefinite: return numerator == 0 && denominator == 0 ? .invalid : .indefinite
        case .positiveInfinity, .negativeInfinity:
            guard numerator != 0 else { return .invalid }
            return isPositiveInfinity != isNegative ? .positiveInfinity : .negativeInfinity
        case .numeric: break
        }
        guard denominator != 0 else {
            guard value != 0, numerator != 0 else { return .invalid }
            return (value < 0) != (numerator < 0) ? .negativeInfinity : .positiveInfinity
        }
        // At most 2¹²⁶ over 2⁹⁴, so neither can overflow.
        let product = Int128(value) * Int128(numerator) * (denominator < 0 ? -1 : 1)
        let divisor = Int128(denominator.magnitude)
        if product % divisor == 0, let value = Int64(exactly: product / divisor) {
            return MediaTime(value: value, timescale: timescale, hasBeenRounded: hasBeenRounded)
        }
        // The finest timescale that is a multiple of this one.
        let finest = Int32.max / timescale * timescale
        return Self.representation(
            of: product, over: divisor * Int128(timescale), fallback: finest, rounding: rule,
            hasBeenRounded: hasBeenRounded)
    }

    private func combined(
        with other: MediaTime, sign: Int128, rounding rule: FloatingPointRoundingRule
    ) -> MediaTime {
        guard isNumeric, other.isNumeric else { return nonNumericSum(other, isDifference: sign < 0) }
        let divisor = Int64(greatestCommonDivisor(UInt64(timescale), UInt64(other.timescale)))
        let common = Int64(timescale) / divisor * Int64(other.timescale)
        let sum =
            Int128(value) * Int128(common / Int64(timescale))
            + sign * Int128(other.value) * Int128(common / Int64(other.timescale))
        let hasBeenRounded = hasBeenRounded || other.hasBeenRounded
        if let timescale = Int32(exactly: common), let value = Int64(exactly: sum) {
            return MediaTime(value: value, timescale: timescale, hasBeenRounded: hasBeenRounded)
        }
        let fallback = Int32(exactly: common) ?? max(timescale, other.timescale)
        return Self.representation(
            of: sum, over: Int128(common), fallback: fallback, rounding: rule, hasBeenRounded: hasBeenRounded)
    }

    private func nonNumericSum(_ other: MediaTime, isDifference: Bool) -> MediaTime {
        guard isValid, other.isValid else { return .invalid }
        guard other.isInfinite else { return isInfinite ? self : .indefinite }
        let addend: MediaTime = other.isPositiveInfinity != isDifference ? .positiveInfinity : .negativeInfinity
        return isInfinite && kind != addend.kind ? .invalid : addend
    }

    /// The time `numerator / denominator` seconds: exact, in lowest terms, or else rounded to a multiple of `1 /
    /// fallback` seconds, in coarser timescales if the value would be too large.
    ///
    /// - Parameters:
    ///   - numerator: At most 2¹²⁶.
    ///   - denominator: Positive, at most 2⁹⁴.
    private static func representation(
        of numerator: Int128, over denominator: Int128, fallback: Int32, rounding rule: FloatingPointRoundingRule,
        hasBeenRounded: Bool
    ) -> MediaTime {
        let divisor = greatestCommonDivisor(numerator.magnitude, denominator.magnitude)
        if let value = Int64(exactly: numerator / Int128(divisor)),
            let timescale = Int32(exactly: denominator / Int128(divisor))
        {
            return MediaTime(value: value, timescale: timescale, hasBeenRounded: hasBeenRounded)
        }
        var timescale = fallback
        while timescale > 0 {
            let rounded = RoundedQuotient(
                of: numerator, over: denominator, times: Int128(timescale), rounding: rule)
            if let value = rounded.value.flatMap({ Int64(exactly: $0) }) {
                return MediaTime(
                    value: value, timescale: timescale, hasBeenRounded: hasBeenRounded || !rounded.isExact)
            }
            timescale /= 2
        }
        return numerator < 0 ? .negativeInfinity : .positiveInfinity
    }
}

/// The largest number that divides both, neither of which is negative; 1 where both are zero.
///
/// Inlinable, because other modules use it with types of their own: unspecialised it took a third of the time in which
/// a transition is made.
@inlinable
public func greatestCommonDivisor<Number: BinaryInteger>(_ left: Number, _ right: Number) -> Number {
    var (a, b) = (left, right)
    while b != 0 { (a, b) = (b, a % b) }
    return max(a, 1)
}
