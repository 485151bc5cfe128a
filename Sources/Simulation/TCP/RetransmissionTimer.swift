/// The retransmission timeout (RFC 6298), with the lower bound of 200 ms of today's systems instead of 1 s.
struct RetransmissionTimer: Sendable {
    static let minimum = Duration.milliseconds(200)
    static let maximum = Duration.seconds(60)

    private(set) var smoothed: Duration?
    private var variation = Duration.zero
    private var backOff = 1

    /// Adds a measured round trip.
    mutating func measured(_ time: Duration) {
        backOff = 1
        guard let smoothed else {
            smoothed = time
            variation = time / 2
            return
        }
        let difference = time > smoothed ? time - smoothed : smoothed - time
        variation = (variation * 3 + difference) / 4
        self.smoothed = (smoothed * 7 + time) / 8
    }

    mutating func expired() {
        backOff = min(backOff * 2, 64)
    }

    var timeout: Duration {
        guard let smoothed else { return .seconds(1) * backOff }
        return min(max(smoothed + variation * 4, Self.minimum) * backOff, Self.maximum)
    }
}
