/// Logarithms without the system's library, whose last digits may differ between machines.
enum Logarithm {
    /// Returns the logarithm to base ten of a positive number.
    static func base10(_ value: Double) -> Double {
        guard value > 0, value.isFinite else { return 0 }
        // value = significand · 2^exponent with a significand in 1..<2, and ln s = 2 artanh((s - 1) / (s + 1)).
        let ratio = (value.significand - 1) / (value.significand + 1)
        let square = ratio * ratio
        var term = ratio
        var sum = 0.0
        var divisor = 1.0
        while term > 1e-17 {
            sum += term / divisor
            term *= square
            divisor += 2
        }
        return (2 * sum + Double(value.exponent) * 0.693_147_180_559_945_3) / 2.302_585_092_994_045_7
    }
}
