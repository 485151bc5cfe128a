extension SeededGenerator {
    /// A number from a normal distribution with mean 0 and deviation 1, cut at ±`limit`.
    package mutating func nextNormal(cutAt limit: Double) -> Double {
        // Marsaglia's polar method, without its spare number; values beyond the limit are drawn again.
        while true {
            let x = Double.random(in: -1...1, using: &self)
            let y = Double.random(in: -1...1, using: &self)
            let square = x * x + y * y
            guard square > 0, square < 1 else { continue }
            let normal = x * (-2 * Self.logarithm(square) / square).squareRoot()
            if normal.magnitude <= limit { return normal }
        }
    }

    /// The natural logarithm of a number between zero and one, by halving and a series: the same bits everywhere.
    private static func logarithm(_ value: Double) -> Double {
        let significand = value.significand
        // ln(m) = 2 artanh((m - 1) / (m + 1)) for 1 <= m < 2.
        let ratio = (significand - 1) / (significand + 1)
        let square = ratio * ratio
        var term = ratio
        var sum = 0.0
        var divisor = 1.0
        while divisor < 26 {
            sum += term / divisor
            term *= square
            divisor += 2
        }
        return 2 * sum + Double(value.exponent) * 0.693_147_180_559_945_3
    }

    /// A time from an exponential distribution, at most forty times its mean.
    package mutating func nextExponential(mean: Duration) -> Duration {
        // A number above zero and at most one.
        let uniform = Double((next() >> 11) + 1) / 9_007_199_254_740_992
        let factor = uniform < 1 ? min(-Self.logarithm(uniform), 40) : 0
        return .nanoseconds(Int64(clamping: Double(mean.nanoseconds) * factor))
    }
}
