public import CongestionControl
public import MediaCore

/// The state of a simulated flow at one time, and its activity since the preceding sample.
public struct MediaFlowSample: Hashable, Sendable {
    /// The time since the simulation began.
    public var time: Duration
    public var controller: ControllerSnapshot
    /// The mean rate that left the sender since the last sample.
    public var sendRate: BitRate
    /// The mean rate of all packets that arrived since the last sample.
    public var receiveRate: BitRate
    /// The mean rate of media that arrived since the last sample.
    public var goodput: BitRate
    /// The mean capacity of the link since the last sample; nil if unlimited.
    public var capacity: BitRate?
    /// The time that a packet sent now would wait in the link's queue.
    public var queueDelay: Duration
    /// The time that the oldest packet has waited in the pacer.
    public var pacerDelay: Duration
    /// True if the sender had media to send.
    public var isActive: Bool
}
