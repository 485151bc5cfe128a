import MediaCore
import RTP

/// A packet on its way through the simulated network; plain values, so that moving it costs no reference counting.
struct SimulatedPacket: Sendable {
    /// The flow that it belongs to.
    var flow: Int
    var direction: Direction
    /// How many links of its path it has behind it.
    var hop = 0
    var size: DataSize
    var ecn = ECNCodepoint.notCapable
    var sendTime = MonotonicInstant.zero
    /// How long it has been in queues.
    var queueingDelay = Duration.zero
    /// What the flow makes of them is its own affair.
    var sequence: Int64 = 0
    var detail: Int64 = 0

    enum Direction: UInt8, Sendable {
        /// From the flow's sender to its receiver.
        case forward
        case backward
    }
}

/// The links that a flow's packets take, by their numbers, in order.
struct NetworkPath: Hashable, Sendable {
    var forward: [Int]
    var backward: [Int]
}
