public import MediaCore

/// A policer: what exceeds the rate by more than the burst is dropped at once, without a queue.
public struct Policer: Hashable, Sendable {
    public var rate: BitRate
    /// How much may pass at once after a silence.
    public var burst: DataSize

    public init(rate: BitRate, burst: DataSize) {
        self.rate = rate
        self.burst = burst
    }
}

/// The state of a policer (RFC 2698's single bucket).
struct TokenBucket: Sendable {
    private let policer: Policer
    private var tokens: Double
    private var updated: MonotonicInstant

    init(_ policer: Policer, start: MonotonicInstant) {
        self.policer = policer
        tokens = Double(policer.burst.bytes)
        updated = start
    }

    /// Whether a packet of this size passes now.
    mutating func admits(_ size: DataSize, now: MonotonicInstant) -> Bool {
        let earned = Double(policer.rate.bitsPerSecond) / 8 * max(now - updated, .zero).seconds
        tokens = min(tokens + earned, Double(policer.burst.bytes))
        updated = max(updated, now)
        guard tokens >= Double(size.bytes) else { return false }
        tokens -= Double(size.bytes)
        return true
    }
}
