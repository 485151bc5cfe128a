public import MediaCore

/// A policer: what exceeds the rate by more than the burst is dropped at once, without a queue.
public struct Policer: Hashable, Sendable {
    public var rate: BitRate
    /// How much may pass at once after a silence.
    public var burst: DataSize

    public init(rate: BitRate, burst: DataSize) {
        self.rate = rate
        self.burst = burst
    }
}
