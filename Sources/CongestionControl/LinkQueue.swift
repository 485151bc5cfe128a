public import MediaCore

/// What the link to one receiver, or to those who share an encoder, still has to do. Whoever wants to know whether a
/// link is full asks this model.
///
/// An encoder at its coarsest QP, a keyframe and retransmissions may all take more than their share. What was spent
/// beyond the rate is a debt that the rate pays back. While the debt is more than the rate carries in the latency
/// budget, only a few frames a second are encoded, which keep the picture alive (after a keyframe they are small), and
/// none while it is far more. The frame rate gives way then, not the delay.
public struct LinkQueue: Sendable {
    /// How far apart frames are while the debt is more than the latency budget.
    public static let reducedInterval = Duration.milliseconds(100)

    private var rate = BitRate.zero
    private var debt = DataSize.zero
    private var updated = MonotonicInstant.zero
    private var lastFrame = MonotonicInstant.zero
    /// How long a packet sent now queues on the path, as the controller predicts; zero where it says nothing of it.
    public var predicted = Duration.zero

    /// Creates a queue without debt and without a rate.
    public init() {}

    /// The rate that pays from now on.
    public mutating func setRate(_ rate: BitRate, now: MonotonicInstant) {
        pay(now: now)
        self.rate = rate
    }

    /// A frame was encoded.
    public mutating func spend(frame size: DataSize, now: MonotonicInstant) {
        lastFrame = now
        spend(size, now: now)
    }

    /// Something else than a frame leaves, such as a retransmission.
    public mutating func spend(_ size: DataSize, now: MonotonicInstant) {
        pay(now: now)
        debt += size
    }

    /// Whether a frame may be encoded now.
    public func hasRoom(now: MonotonicInstant) -> Bool {
        let owed = debt - rate.dataSize(over: now - updated)
        if owed <= rate.dataSize(over: LatencyBudget.debt) { return true }
        return owed <= rate.dataSize(over: LatencyBudget.mostDebt) && now - lastFrame >= Self.reducedInterval
    }

    /// How long the link has to do.
    ///
    /// - Parameters:
    ///   - size: What is sent besides.
    ///   - waiting: How long the oldest packet has waited at the sender.
    public func backlog(
        adding size: DataSize = .zero, waiting: Duration = .zero, now: MonotonicInstant
    ) -> LinkBacklog {
        let owed = rate.duration(for: max(.zero, debt - rate.dataSize(over: now - updated)) + size)
        return LinkBacklog(sent: max(owed, waiting), predicted: predicted)
    }

    private mutating func pay(now: MonotonicInstant) {
        debt = max(.zero, debt - rate.dataSize(over: now - updated))
        updated = now
    }
}

/// How long a link has to do.
public struct LinkBacklog: Hashable, Sendable {
    /// With what was sent beyond the rate and what waits at the sender, at the rate that the link is believed to carry.
    public var sent: Duration
    /// With what the controller takes to be queued on the path.
    public var predicted: Duration

    public init(sent: Duration, predicted: Duration = .zero) {
        self.sent = sent
        self.predicted = predicted
    }

    /// The longer of the two.
    public var longest: Duration { max(sent, predicted) }
}
