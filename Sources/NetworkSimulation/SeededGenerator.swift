/// A random number generator that gives the same numbers for the same seed on every machine (SplitMix64).
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    public init(seed: UInt64) {
        state = seed
    }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number from a normal distribution with mean 0 and deviation 1, cut at ±`limit`.
    public mutating func nextNormal(cutAt limit: Double) -> Double {
        // Marsaglia's polar method, without its spare number; what lies beyond the limit is drawn anew.
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
}
