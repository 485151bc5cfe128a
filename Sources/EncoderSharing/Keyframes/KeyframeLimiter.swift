package import MediaCore

/// Limits the keyframes that one receiver may request from a shared encoder: two at once, and one more every ten
/// seconds.
///
/// Losses that retransmission does not repair are rare on a working path. A receiver that requests keyframes again and
/// again is better served by an encoder of its own, and so are the others.
package struct KeyframeLimiter: Sendable {
    private var requests = TokenBucket(rate: 0.1, capacity: 2)
    private var lastExceeded: MonotonicInstant?

    package init() {}

    /// The time for which a receiver counts as broken after too many requests.
    private static let suspicion = Duration.seconds(30)

    /// Returns true if recent requests exceeded the limit.
    package func isExceeded(now: MonotonicInstant) -> Bool {
        lastExceeded.map { now - $0 < Self.suspicion } ?? false
    }

    /// Returns true if a keyframe may be requested from a shared encoder now; counts the request.
    package mutating func take(now: MonotonicInstant) -> Bool {
        let isAllowed = requests.take(now: now)
        if !isAllowed { lastExceeded = now }
        return isAllowed
    }
}
