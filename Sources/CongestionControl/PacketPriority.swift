/// The order in which a pacer sends packets.
public enum PacketPriority: Int, CaseIterable, Comparable, Sendable {
    /// Leaves at once: its rate is small and its delay is heard.
    case audio
    /// Fills a gap that a receiver waits for.
    case retransmission
    case video
    /// Packets that repair losses of the video before them.
    case repair
    /// A packet that only carries a probe.
    case padding

    public static func < (left: PacketPriority, right: PacketPriority) -> Bool { left.rawValue < right.rawValue }
}
