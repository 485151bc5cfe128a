import MediaCore

/// A rate limiter with debt: a burst may use a second's worth, and a charge after the fact may exceed it.
struct RateAllowance: Sendable {
    private var rate: Double
    private var left: Double
    private var updated: MonotonicInstant?

    /// More than so many seconds' worth is not owed.
    private static let longestDebt = 10.0

    /// - Parameter rate: Units a second.
    init(rate: Double) {
        self.rate = rate
        left = rate
    }

    /// Whether so much may be used now. More than a second's worth may be used when nothing else was.
    mutating func isAvailable(_ amount: Double, now: MonotonicInstant) -> Bool {
        if let updated { left = min(rate, left + max(0, (now - updated).seconds) * rate) }
        updated = now
        return left >= min(amount, rate) && left > 0
    }

    mutating func take(_ amount: Double) {
        left = max(left - amount, -rate * Self.longestDebt)
    }

    /// Changes the rate from now on; the remainder keeps its share of a second's worth.
    mutating func setRate(_ wanted: Double, now: MonotonicInstant) {
        guard wanted != rate, rate > 0 else { return }
        _ = isAvailable(0, now: now)
        left *= wanted / rate
        rate = wanted
    }
}
