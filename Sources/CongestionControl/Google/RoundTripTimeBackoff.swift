import MediaCore

/// Lowers the rate while packets stay unanswered for long (libwebrtc's `RttBasedBackoff`): the round trip, and the time
/// since feedback while packets leave, is over three seconds.
struct RoundTripTimeBackoff: Sendable {
    static let limit = Duration.seconds(3)
    static let factor = 0.8
    static let interval = Duration.seconds(1)
    static let floor = BitRate.kilobits(5)

    private var roundTripTime = Duration.zero
    private var lastUpdate: MonotonicInstant?
    private var lastSent: MonotonicInstant?

    /// A packet left of which feedback will tell.
    mutating func packetSent(now: MonotonicInstant) {
        // Before the first feedback, the time since the first packet counts.
        lastUpdate = lastUpdate ?? now
        lastSent = now
    }

    /// Feedback came that shows this round trip, without the time that it waited for younger packets.
    mutating func heard(roundTripTime: Duration, now: MonotonicInstant) {
        self.roundTripTime = roundTripTime
        lastUpdate = now
    }

    /// True if the rate must fall. A pause in sending is no silence.
    var isAboveLimit: Bool {
        guard let lastUpdate, let lastSent else { return false }
        return max(lastSent - lastUpdate, .zero) + roundTripTime > Self.limit
    }
}
