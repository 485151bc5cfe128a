/// A rate as the exact ratio of two integers, so that times computed with it have no error of a double.
struct TimebaseRate: Equatable {
    /// The numerator, within ±2⁵³ unless the denominator is 1.
    let numerator: Int64
    /// A power of two, up to 2⁶⁰.
    let denominator: Int64

    /// Takes a rate exactly; one beyond ±2²⁰ is brought within, one below 2⁻⁶⁰ rounded, and one that is not finite
    /// counts as zero.
    init(_ rate: Double) {
        let limit = Double(1 << 20)
        let bounded = rate.isFinite ? min(max(rate, -limit), limit) : 0
        // A double has 53 significant bits, so at most 2⁵³ or the scaled limit is reached before it is whole.
        var scaled = bounded
        var denominator: Int64 = 1
        while denominator < 1 << 60, scaled != scaled.rounded() {
            scaled *= 2
            denominator *= 2
        }
        numerator = Int64(exactly: scaled.rounded()) ?? 0
        self.denominator = denominator
    }

    var isZero: Bool { numerator == 0 }
    var value: Double { Double(numerator) / Double(denominator) }
}
