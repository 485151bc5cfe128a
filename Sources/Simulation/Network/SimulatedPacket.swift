import MediaCore
import RTP

/// A packet on its way through the simulated network. It has only plain values, so that moving it costs no reference
/// counting.
struct SimulatedPacket: Sendable {
    /// The number of the packet's flow.
    var flow: Int
    var direction: Direction
    /// The number of links of its path that it has passed.
    var hop = 0
    var size: DataSize
    var ecn = ECNCodepoint.notCapable
    var sendTime = MonotonicInstant.zero
    /// The time that it has spent in queues.
    var queueingDelay = Duration.zero
    /// A value for the flow's own use, as is `detail`.
    var sequence: Int64 = 0
    var detail: Int64 = 0

    enum Direction: UInt8, Sendable {
        /// The path from the flow's sender to its receiver.
        case forward
        case backward
    }
}

/// The numbers of the links that a flow's packets take, in order.
struct NetworkPath: Hashable, Sendable {
    var forward: [Int]
    var backward: [Int]
}
