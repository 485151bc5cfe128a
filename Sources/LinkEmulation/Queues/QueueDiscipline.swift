import MediaCore
import RTP

/// Which packet of a queue leaves next, and which is dropped or marked before the queue is full.
public enum QueueDiscipline: Hashable, Sendable {
    /// First in, first out; what comes when the queue is full is dropped.
    case dropTail
    /// RFC 8289.
    case coDel(CoDelParameters)
    /// RFC 8290.
    case fairQueueCoDel(FairQueueCoDelParameters)
    /// RFC 9332, appendix A.
    case dualPI2(DualPI2Parameters)

    /// The discipline of a name, with its RFC's parameters: drop-tail, codel, fq-codel or dualpi2.
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

/// A packet that waits, with what a discipline decides by.
struct QueuedPacket<Packet> {
    var packet: Packet
    var size: DataSize
    var ecn: ECNCodepoint
    /// Packets of one flow have one number.
    var flow: Int
    var enqueued: MonotonicInstant
}

extension QueuedPacket: Sendable where Packet: Sendable {}
