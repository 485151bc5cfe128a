import MediaCore

/// The amount of forward error correction for a stream.
public struct Protection: Hashable, Sendable {
    /// Repair packets for each packet that they protect; zero for none, at most one.
    public var rate: Double
    /// The least that a group of packets is given, against losses in a row, as far as half of its own number.
    public var burst: Int
    public var pattern: RepairPattern
    /// The longest wait of a packet for its repair packet. With a longer wait more packets are protected together,
    /// which costs less.
    public var delay: Duration

    public init(
        rate: Double, burst: Int = 1, pattern: RepairPattern = .interleaved, delay: Duration = .milliseconds(80)
    ) {
        self.rate = min(max(rate, 0), 1)
        self.burst = max(burst, 0)
        self.pattern = pattern
        self.delay = max(delay, .zero)
    }

    /// No protection.
    public static let none = Protection(rate: 0, burst: 0)

    public var isActive: Bool { rate > 0 }
}
