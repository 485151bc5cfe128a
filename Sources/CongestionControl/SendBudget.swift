public import MediaCore

/// Holds what is sent to what the controller allows, whatever the encoder makes of its target.
///
/// An encoder at its coarsest quantizer, a keyframe and retransmissions may all take more than their share. What was
/// spent beyond the rate is a debt that the rate pays back. While the debt is more than the rate carries in the latency
/// budget, only a few frames a second are encoded, which keep the picture alive (after a keyframe they are small), and
/// none while it is far more. The frame rate gives way then, not the delay.
public struct SendBudget: Sendable {
    /// How far apart frames are in between.
    public static let reducedInterval = Duration.milliseconds(100)

    private var rate = BitRate.zero
    private var debt = DataSize.zero
    private var updated = MonotonicInstant.zero
    private var lastFrame = MonotonicInstant.zero

    /// Creates a budget without debt and without a rate.
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

    /// How long the rate takes to pay the debt, and for so much more.
    public func backlog(adding size: DataSize, now: MonotonicInstant) -> Duration {
        rate.duration(for: max(.zero, debt - rate.dataSize(over: now - updated)) + size)
    }

    private mutating func pay(now: MonotonicInstant) {
        debt = max(.zero, debt - rate.dataSize(over: now - updated))
        updated = now
    }
}
