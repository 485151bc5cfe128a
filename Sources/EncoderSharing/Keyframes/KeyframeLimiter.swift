package import MediaCore

/// How many keyframes one receiver may ask of an encoder that others share: two at once, and one more every ten
/// seconds.
///
/// Losses that retransmission does not repair are rare on a path that works. Whoever asks again and again is better off
/// with an encoder of its own, and so are the others.
package struct KeyframeLimiter: Sendable {
    private var requests = TokenBucket(rate: 0.1, capacity: 2)
    private var lastExceeded: MonotonicInstant?

    package init() {}

    /// For how long whoever asked for too much is taken for broken.
    private static let suspicion = Duration.seconds(30)

    /// Whether more was asked for than is allowed, lately.
    package func isExceeded(now: MonotonicInstant) -> Bool {
        lastExceeded.map { now - $0 < Self.suspicion } ?? false
    }

    /// Whether a keyframe may be asked of a shared encoder now; counts the request.
    package mutating func take(now: MonotonicInstant) -> Bool {
        let isAllowed = requests.take(now: now)
        if !isAllowed { lastExceeded = now }
        return isAllowed
    }
}
