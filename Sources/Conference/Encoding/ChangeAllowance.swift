import MediaCore

/// Bounds how often something changes: a few times at once, and then at a steady rate.
struct ChangeAllowance: Sendable {
    private static let capacity = 4.0
    private static let refillTime = Duration.seconds(2)

    private var tokens = Self.capacity
    private var updated: MonotonicInstant?

    mutating func isAvailable(now: MonotonicInstant) -> Bool {
        if let updated { tokens = min(Self.capacity, tokens + (now - updated) / Self.refillTime) }
        updated = now
        return tokens >= 1
    }

    mutating func take(now: MonotonicInstant) {
        if isAvailable(now: now) { tokens -= 1 }
    }
}
