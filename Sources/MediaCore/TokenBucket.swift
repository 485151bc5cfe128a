/// A rate limiter: it allows bursts up to a capacity, and a steady rate over time.
///
/// A token is one unit of the limited resource: a packet, a byte, a request. The bucket starts full and refills
/// continuously. It holds three numbers and allocates nothing, so that one bucket for each member of a room is cheap.
/// All arithmetic saturates: time that runs backwards adds nothing, and invalid numbers count as zero.
public struct TokenBucket: Hashable, Sendable {
    /// Tokens added each second.
    public let rate: Double
    /// The most tokens that the bucket holds: the size of the largest burst.
    public let capacity: Double
    /// The tokens that were left at the last call.
    public private(set) var tokens: Double
    private var updated: MonotonicInstant

    /// Creates a full bucket.
    ///
    /// - Parameters:
    ///   - rate: Tokens added each second. Negative numbers and NaN count as zero.
    ///   - capacity: The most tokens that the bucket holds. Negative numbers and NaN count as zero.
    public init(rate: Double, capacity: Double, now: MonotonicInstant) {
        self.rate = Self.valid(rate)
        self.capacity = Self.valid(capacity)
        tokens = self.capacity
        updated = now
    }

    /// Takes tokens if there are enough of them. Otherwise it takes none.
    ///
    /// - Returns: Whether the tokens were taken.
    public mutating func take(_ tokens: Double = 1, now: MonotonicInstant) -> Bool {
        refill(now: now)
        let wanted = Self.valid(tokens)
        guard self.tokens >= wanted else { return false }
        self.tokens -= wanted
        return true
    }

    /// Adds the tokens of the time that has passed since the last call.
    public mutating func refill(now: MonotonicInstant) {
        guard now > updated else { return }
        tokens = min(capacity, tokens + (now - updated).seconds * rate)
        updated = now
    }

    /// The earliest time at which `take` succeeds for this number of tokens; nil if it never does, because the bucket is
    /// too small or does not refill.
    public func nextAvailable(_ tokens: Double = 1, now: MonotonicInstant) -> MonotonicInstant? {
        var later = self
        later.refill(now: now)
        let wanted = Self.valid(tokens)
        guard wanted <= capacity else { return nil }
        let missing = wanted - later.tokens
        guard missing > 0 else { return now }
        guard rate > 0 else { return nil }
        // Rounded up to the next nanosecond, and one more for the rounding of the refill itself.
        let nanoseconds = (missing / rate * 1e9).rounded(.up) + 1
        guard nanoseconds < Double(Int64.max) else { return .distantFuture }
        return max(now, later.updated) + .nanoseconds(Int64(nanoseconds))
    }

    /// A finite number of tokens: NaN compares as false and becomes zero, and infinity minus infinity cannot occur.
    private static func valid(_ number: Double) -> Double { number > 0 ? min(number, .greatestFiniteMagnitude) : 0 }
}
