import MediaCore

/// Lets single packets leave while nothing is heard, to find whether the path is back: without packets there is no
/// feedback, and so never an end of the silence.
struct KeepAlive: Sendable {
    private let silence: Duration
    private let interval: Duration
    private var lastHeard: MonotonicInstant?
    private var lastPacket: MonotonicInstant?

    /// Whether one packet may leave now, whatever the window.
    private(set) var allowsPacket = false

    init(parameters: ConfrelayParameters) {
        silence = parameters.silence
        interval = parameters.keepAliveInterval
    }

    mutating func heard(now: MonotonicInstant) {
        lastHeard = now
        allowsPacket = false
    }

    /// One at a time.
    mutating func packetSent() {
        allowsPacket = false
    }

    /// - Parameter oldest: when the oldest packet that was not heard of left; nil when there is none.
    mutating func update(oldest: MonotonicInstant?, now: MonotonicInstant) {
        guard let oldest, let lastHeard, now - max(lastHeard, oldest) > silence else { return }
        if let lastPacket, now - lastPacket < interval { return }
        lastPacket = now
        allowsPacket = true
    }
}
