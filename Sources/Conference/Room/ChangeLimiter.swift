import MediaCore

/// Bounds how often requests change one thing. Each change costs the room's loop a new plan for its pictures, and each
/// subscriber of the room an event.
struct ChangeLimiter {
    private var bucket: TokenBucket

    /// - Parameters:
    ///   - rate: Changes a second in the long run.
    ///   - burst: Changes at once.
    init(rate: Double, burst: Double, now: MonotonicInstant) {
        bucket = TokenBucket(rate: rate, capacity: burst, now: now)
    }

    /// Counts a change.
    ///
    /// - Returns: Nil if it is admitted, otherwise the seconds, at least one, until another one is.
    mutating func secondsToWait(now: MonotonicInstant) -> Int? {
        guard !bucket.take(now: now) else { return nil }
        let wait = (bucket.nextAvailable(now: now) ?? now) - now
        return max(1, Int(min(wait.seconds.rounded(.up), 60)))
    }

    /// Counts a change by a control request.
    mutating func take(now: MonotonicInstant) throws(RoomControlError) {
        if let seconds = secondsToWait(now: now) { throw .tooManyChanges(retryAfter: seconds) }
    }
}

/// The limits of changes to a room by requests without proof of identity.
struct RoomChangeLimits {
    /// Changes of the room's layout and overlays.
    var room: ChangeLimiter
    /// Changes of its participants' own layouts, together.
    var participantLayouts: ChangeLimiter
    /// Acts of moderators.
    var moderation: ChangeLimiter

    init(now: MonotonicInstant) {
        room = ChangeLimiter(rate: 5, burst: 20, now: now)
        participantLayouts = ChangeLimiter(rate: 25, burst: 100, now: now)
        moderation = ChangeLimiter(rate: 25, burst: 100, now: now)
    }
}

/// The limits of changes to a participant. Others may change the layout, but cannot use up the participant's own
/// changes.
struct ParticipantChangeLimits {
    /// The limit of changes to the participant's view.
    var layout: ChangeLimiter
    /// Changes that take the key of the session: microphone, camera, and an avatar's removal.
    var own: ChangeLimiter
    /// New avatars, each of which may take a good part of a second to read.
    var avatars: ChangeLimiter
    /// Further offers and ICE restarts, each of which is an answer and new keys to make.
    var negotiation: ChangeLimiter
    /// Goodbyes that take a picture away. Each of them, and the next picture, is another layout.
    var goodbyes: ChangeLimiter

    init(now: MonotonicInstant) {
        layout = ChangeLimiter(rate: 5, burst: 20, now: now)
        own = ChangeLimiter(rate: 5, burst: 20, now: now)
        avatars = ChangeLimiter(rate: 0.25, burst: 5, now: now)
        negotiation = ChangeLimiter(rate: 2, burst: 10, now: now)
        goodbyes = ChangeLimiter(rate: 1, burst: 10, now: now)
    }
}
