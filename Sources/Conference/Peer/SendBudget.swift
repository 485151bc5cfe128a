import MediaCore

/// Holds what is sent to what the controller allows, whatever the encoder makes of its target.
///
/// An encoder at its coarsest quantizer, a keyframe and retransmissions may all take more than their share. What was
/// spent beyond the rate is a debt that the rate pays back; while the debt is more than the rate carries in the latency
/// budget, no frame is encoded. The frame rate gives way then, not the delay.
struct SendBudget {
    /// The debt that is tolerated, as time at the rate. A queue on the path is at most about so long.
    static let latencyBudget = Duration.milliseconds(250)

    private var rate = BitRate.zero
    private var debt = DataSize.zero
    private var updated = MonotonicInstant.zero

    mutating func setRate(_ rate: BitRate, now: MonotonicInstant) {
        pay(now: now)
        self.rate = rate
    }

    mutating func spend(_ size: DataSize, now: MonotonicInstant) {
        pay(now: now)
        debt += size
    }

    func hasRoom(now: MonotonicInstant) -> Bool {
        debt - rate.dataSize(over: now - updated) <= rate.dataSize(over: Self.latencyBudget)
    }

    private mutating func pay(now: MonotonicInstant) {
        debt = max(.zero, debt - rate.dataSize(over: now - updated))
        updated = now
    }
}
