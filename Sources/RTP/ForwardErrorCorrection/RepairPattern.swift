/// Which packets of a group each of its repair packets protects.
///
/// One that protects many packets repairs one of them alone. So each is given a few, and those of one burst go to
/// different ones.
public enum RepairPattern: Hashable, Sendable {
    /// Each packet is protected once; neighbours by different repair packets, so that a burst as long as there are
    /// repair packets is repaired.
    case interleaved
    /// Each packet is protected twice, and no two by the same two repair packets where that can be: what one cannot
    /// repair the other may, which helps against losses that come one by one. Where there are fewer than three repair
    /// packets it is the same as `interleaved`.
    case twofold

    /// Whether the repair packet `repair` of `repairCount` protects the packet `index` of a group.
    public func protects(_ index: Int, by repair: Int, of repairCount: Int) -> Bool {
        guard repairCount > 0, index >= 0 else { return false }
        let first = index % repairCount
        if first == repair { return true }
        guard self == .twofold, repairCount > 2 else { return false }
        return (first + 1 + index / repairCount % (repairCount - 1)) % repairCount == repair
    }
}
