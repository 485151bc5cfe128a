import MediaCore
import RTP

/// The rule that selects the next packet of a queue, and the packets that are dropped or marked before the queue is
/// full.
public enum QueueDiscipline: Hashable, Sendable {
    /// First in, first out. Packets that arrive at a full queue are dropped.
    case dropTail
    /// One queue with CoDel (RFC 8289).
    case coDel(CoDelParameters)
    /// A queue for each flow, each with CoDel (RFC 8290).
    case fairQueueCoDel(FairQueueCoDelParameters)
    /// Two coupled queues for L4S and classic traffic (RFC 9332, appendix A).
    case dualPI2(DualPI2Parameters)

    /// Creates the discipline of a name with its RFC's parameters: drop-tail, codel, fq-codel or dualpi2.
    public init?(name: String) {
        switch name {
        case "drop-tail": self = .dropTail
        case "codel": self = .coDel(CoDelParameters())
        case "fq-codel": self = .fairQueueCoDel(FairQueueCoDelParameters())
        case "dualpi2": self = .dualPI2(DualPI2Parameters())
        default: return nil
        }
    }
}

/// A waiting packet, with the properties that a discipline needs.
struct QueuedPacket<Packet> {
    var packet: Packet
    var size: DataSize
    var ecn: ECNCodepoint
    /// The number of the packet's flow.
    var flow: Int
    var enqueued: MonotonicInstant
}

extension QueuedPacket: Sendable where Packet: Sendable {}
