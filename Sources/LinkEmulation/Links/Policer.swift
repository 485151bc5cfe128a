public import MediaCore

/// A policer: it drops packets that exceed the rate by more than the burst at once, without a queue.
public struct Policer: Hashable, Sendable {
    public var rate: BitRate
    /// The size that may pass at once after a silence.
    public var burst: DataSize

    public init(rate: BitRate, burst: DataSize) {
        self.rate = rate
        self.burst = burst
    }
}
