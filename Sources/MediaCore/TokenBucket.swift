/// A rate limiter: it allows bursts up to a capacity, and a steady rate over time.
///
/// A token is one unit of the limited resource: a packet, a byte, a request. The bucket starts full and refills
/// continuously. It holds three numbers and allocates nothing, so one bucket for each member of a room is cheap. All
/// arithmetic saturates: time that runs backwards adds nothing, and invalid numbers count as zero.
public struct TokenBucket: Hashable, Sendable {
    /// Tokens added each second.
    public private(set) var rate: Double
    /// The most tokens that the bucket holds: the size of the largest burst.
    public private(set) var capacity: Double
    /// The tokens that were left at the last call; negative while the bucket owes some.
    public private(set) var tokens: Double
    private var updated: MonotonicInstant?

    /// The largest debt of a bucket, in seconds of its rate.
    private static let longestDebt = 10.0

    /// Creates a full bucket.
    ///
    /// - Parameters:
    ///   - rate: Tokens added each second. Negative numbers and NaN count as zero.
    ///   - capacity: The most tokens that the bucket holds. Negative numbers and NaN count as zero.
    ///   - now: The time from which the bucket refills; nil: from the first call on.
    public init(rate: Double, capacity: Double, now: MonotonicInstant? = nil) {
        self.rate = Self.valid(rate)
        self.capacity = Self.valid(capacity)
        tokens = self.capacity
        updated = now
    }

    /// Takes tokens if there are enough of them. Otherwise it takes none.
    ///
    /// - Returns: True if the tokens were taken.
    public mutating func take(_ tokens: Double = 1, now: MonotonicInstant) -> Bool {
        refill(now: now)
        let wanted = Self.valid(tokens)
        guard self.tokens >= wanted else { return false }
        self.tokens -= wanted
        return true
    }

    /// Takes as many tokens as there are, up to `count`, and returns how many.
    public mutating func take(atMost count: Int, now: MonotonicInstant) -> Int {
        refill(now: now)
        let taken = min(max(count, 0), max(Int(clamping: tokens), 0))
        tokens -= Double(taken)
        return taken
    }

    /// Returns true if `charge` may be called for this number of tokens: there are enough, or the bucket is full.
    public mutating func isAvailable(_ tokens: Double = 1, now: MonotonicInstant) -> Bool {
        refill(now: now)
        return self.tokens > 0 && self.tokens >= min(Self.valid(tokens), capacity)
    }

    /// Takes tokens whether or not there are enough: the bucket may owe up to ten seconds' worth.
    public mutating func charge(_ tokens: Double = 1) {
        self.tokens = max(self.tokens - Self.valid(tokens), -rate * Self.longestDebt)
    }

    /// Changes rate and capacity; the bucket stays as full as it was.
    public mutating func setRate(_ rate: Double, capacity: Double, now: MonotonicInstant) {
        refill(now: now)
        let filling = self.capacity > 0 ? tokens / self.capacity : 1
        self.rate = Self.valid(rate)
        self.capacity = Self.valid(capacity)
        tokens = min(filling * self.capacity, self.capacity)
    }

    /// Adds the tokens of the time that has passed since the last call.
    public mutating func refill(now: MonotonicInstant) {
        guard let updated else {
            updated = now
            return
        }
        guard now > updated else { return }
        tokens = min(capacity, tokens + (now - updated).seconds * rate)
        self.updated = now
    }

    /// The earliest time at which `take` succeeds for this number of tokens; nil if it never does, because the bucket
    /// is too small or does not refill.
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
        return max(now, later.updated ?? now) + .nanoseconds(Int64(nanoseconds))
    }

    /// A finite number of tokens: NaN compares as false and becomes zero, and infinity minus infinity cannot occur.
    private static func valid(_ number: Double) -> Double { number > 0 ? min(number, .greatestFiniteMagnitude) : 0 }
}
