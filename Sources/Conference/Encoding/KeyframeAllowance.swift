import MediaCore

/// How many keyframes one receiver may ask of an encoder that others share: two at once, and one more every ten
/// seconds.
///
/// Losses that retransmission does not repair are rare on a path that works. Whoever asks again and again is better off
/// with an encoder of its own, and so are the others.
struct KeyframeAllowance: Sendable {
    private static let capacity = 2.0
    private static let refillTime = Duration.seconds(10)

    private var tokens = Self.capacity
    private var updated: MonotonicInstant?
    private var lastExceeded: MonotonicInstant?

    /// For how long whoever asked for too much is taken for broken.
    private static let suspicion = Duration.seconds(30)

    /// Whether more was asked for than is allowed, lately.
    func isExceeded(now: MonotonicInstant) -> Bool {
        lastExceeded.map { now - $0 < Self.suspicion } ?? false
    }

    /// Whether a keyframe may be asked of a shared encoder now; counts the request.
    mutating func take(now: MonotonicInstant) -> Bool {
        refill(now: now)
        guard tokens >= 1 else {
            lastExceeded = now
            return false
        }
        tokens -= 1
        return true
    }

    private mutating func refill(now: MonotonicInstant) {
        if let updated { tokens = min(Self.capacity, tokens + (now - updated) / Self.refillTime) }
        updated = now
    }
}
