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
