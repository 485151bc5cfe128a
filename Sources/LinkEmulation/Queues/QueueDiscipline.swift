import MediaCore
import RTP

/// The rule that selects the next packet of a queue, and the packets that are dropped or marked before the queue is
/// full. Each has the parameters of its RFC.
public enum QueueDiscipline: String, Sendable {
    /// First in, first out. Packets that arrive at a full queue are dropped.
    case dropTail = "drop-tail"
    /// One queue with CoDel (RFC 8289).
    case coDel = "codel"
    /// A queue for each flow, each with CoDel (RFC 8290).
    case fairQueueCoDel = "fq-codel"
    /// Two coupled queues for L4S and classic traffic (RFC 9332, appendix A).
    case dualPI2 = "dualpi2"
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
