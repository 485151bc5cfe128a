import MediaCore

/// How much forward error correction a stream is given.
public struct Protection: Hashable, Sendable {
    /// Repair packets for each packet that they protect; zero for none, at most one.
    public var rate: Double
    /// The least that a group of packets is given, against losses in a row, as far as half of its own number.
    public var burst: Int
    public var pattern: RepairPattern
    /// How long a packet waits at most until what repairs it is made. More packets are protected together then, which
    /// costs less.
    public var delay: Duration

    public init(
        rate: Double, burst: Int = 1, pattern: RepairPattern = .interleaved, delay: Duration = .milliseconds(80)
    ) {
        self.rate = min(max(rate, 0), 1)
        self.burst = max(burst, 0)
        self.pattern = pattern
        self.delay = max(delay, .zero)
    }

    /// Nothing is protected.
    public static let none = Protection(rate: 0, burst: 0)

    public var isActive: Bool { rate > 0 }
}
