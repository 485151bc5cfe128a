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

    public static let none = Protection(rate: 0, burst: 0)

    public var isActive: Bool { rate > 0 }
}

/// The assignment of a group's packets to its repair packets.
///
/// A repair packet can repair only one of its packets. So each protects few, and the packets of a burst belong to
/// different ones.
public enum RepairPattern: Hashable, Sendable {
    /// Each packet is protected once, neighbours by different repair packets, so that a burst up to the number of
    /// repair packets is repaired.
    case interleaved
    /// Each packet is protected twice, and if possible no two by the same two repair packets: one can help if the other
    /// cannot, which is good against single losses. With fewer than three repair packets it is the same as
    /// `interleaved`.
    case twofold

    /// Returns true if the repair packet `repair` of `repairCount` protects the packet `index` of a group.
    public func protects(_ index: Int, by repair: Int, of repairCount: Int) -> Bool {
        guard repairCount > 0, index >= 0 else { return false }
        let first = index % repairCount
        if first == repair { return true }
        guard self == .twofold, repairCount > 2 else { return false }
        return (first + 1 + index / repairCount % (repairCount - 1)) % repairCount == repair
    }
}
