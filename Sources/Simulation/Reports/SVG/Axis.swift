import VectorGraphics

/// An axis of a plot: maps values to positions between 0 and 1, and selects the values with labels.
struct Axis: Hashable, Sendable {
    enum Scale: Hashable, Sendable {
        case linear
        /// A scale by powers of ten; a value below the lower bound is shown at the bound.
        case logarithmic
    }

    struct Tick: Hashable, Sendable {
        var value: Double
        var label: String
    }

    let lower: Double
    let upper: Double
    let scale: Scale
    let title: String

    /// Creates an axis. Invalid bounds are corrected: an upper bound that is not above the lower one is moved.
    init(from lower: Double, to upper: Double, scale: Scale = .linear, title: String) {
        let safeLower = lower.isFinite ? lower : 0
        switch scale {
        case .linear:
            self.lower = safeLower
            self.upper = upper.isFinite && upper > safeLower ? upper : safeLower + 1
        case .logarithmic:
            let positive = safeLower > 0 ? safeLower : 1
            self.lower = positive
            self.upper = upper.isFinite && upper > positive ? upper : positive * 10
        }
        self.scale = scale
        self.title = title
    }

    /// Returns the position of a value: 0 at the lower bound and 1 at the upper one. A value outside is shown at the
    /// nearer bound.
    func position(of value: Double) -> Double {
        guard !value.isNaN else { return 0 }
        let part: Double
        switch scale {
        case .linear: part = (value - lower) / (upper - lower)
        case .logarithmic:
            let low = Logarithm.base10(lower)
            part = value > 0 ? (Logarithm.base10(value) - low) / (Logarithm.base10(upper) - low) : 0
        }
        return min(max(part, 0), 1)
    }

    /// Returns about `count` values within the bounds that are easy to read.
    func ticks(about count: Int = 5) -> [Tick] {
        switch scale {
        case .linear: linearTicks(about: max(count, 1))
        case .logarithmic: logarithmicTicks(about: max(count, 1))
        }
    }

    /// Returns ticks in steps of 1, 2 or 5 times a power of ten.
    private func linearTicks(about count: Int) -> [Tick] {
        let rough = (upper - lower) / Double(count)
        var power = 1.0
        var decimals = 0
        while power > rough, decimals < 6 {
            power /= 10
            decimals += 1
        }
        while power * 10 <= rough { power *= 10 }
        let step = [1, 2, 5, 10].map { $0 * power }.first { $0 >= rough } ?? power * 10
        if step >= power * 10 { decimals = max(decimals - 1, 0) }
        let first = (lower / step).rounded(.up)
        let last = ((upper + step * 1e-9) / step).rounded(.down)
        guard last >= first, last - first < 100 else { return [] }
        return (0...Int(last - first)).map { index in
            let value = (first + Double(index)) * step
            return Tick(value: value, label: NumberText.fixed(value, decimals))
        }
    }

    /// Returns ticks at powers of ten and, if there is room, at 2 and 5 times these.
    private func logarithmicTicks(about count: Int) -> [Tick] {
        for factors in [[1.0, 2, 5], [1, 3], [1]] {
            var ticks: [Tick] = []
            var power = 1.0
            while power > lower { power /= 10 }
            while power <= upper, ticks.count < 100 {
                for factor in factors where factor * power >= lower * (1 - 1e-9) && factor * power <= upper * (1 + 1e-9)
                {
                    ticks.append(Tick(value: factor * power, label: NumberText.short(factor * power, 6)))
                }
                power *= 10
            }
            if ticks.count <= count + 1 || factors.count == 1 { return ticks }
        }
        return []
    }
}

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
