import MediaCore

/// Lets single packets leave while no feedback comes, to find out whether the path is back: without packets there is no
/// feedback, and the silence would never end.
struct KeepAlive: Sendable {
    private let silence: Duration
    private let interval: Duration
    private let part: Double
    private var lastHeard: MonotonicInstant?
    private var lastPacket: MonotonicInstant?
    private var oldestUnheard: MonotonicInstant?

    /// True if one packet may leave now, whatever the window.
    private(set) var allowsPacket = false

    init(parameters: ConfrelayParameters) {
        silence = parameters.silence
        interval = parameters.keepAliveInterval
        part = max(parameters.keepAlivePart, 1e-3)
    }

    /// Returns true if packets are in flight and there was no feedback for a long time.
    func isSilent(now: MonotonicInstant) -> Bool {
        guard let oldestUnheard, let lastHeard else { return false }
        return now - max(lastHeard, oldestUnheard) > silence
    }

    mutating func heard(now: MonotonicInstant) {
        lastHeard = now
        allowsPacket = false
    }

    /// Counts a sent packet; a probe sends one at a time.
    mutating func packetSent() {
        allowsPacket = false
    }

    /// - Parameters:
    ///   - oldest: when the oldest packet that was not heard of left; nil when there is none.
    ///   - packetTime: how long the path takes for a packet while it is not silent, in seconds.
    mutating func update(oldest: MonotonicInstant?, packetTime: Double, now: MonotonicInstant) {
        oldestUnheard = oldest
        guard isSilent(now: now) else { return }
        let interval = max(interval, .seconds(clamping: packetTime / part))
        if let lastPacket, now - lastPacket < interval { return }
        lastPacket = now
        allowsPacket = true
    }
}
