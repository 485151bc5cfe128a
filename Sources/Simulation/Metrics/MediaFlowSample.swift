public import CongestionControl
public import MediaCore

/// The state of a simulated flow at one time, and what happened since the sample before.
public struct MediaFlowSample: Hashable, Sendable {
    /// Since the simulation began.
    public var time: Duration
    /// What the controller thinks.
    public var controller: ControllerSnapshot
    /// What left the sender, on average since the last sample.
    public var sendRate: BitRate
    /// All that arrived, on average since the last sample.
    public var receiveRate: BitRate
    /// What media arrived, on average since the last sample.
    public var goodput: BitRate
    /// What the link could carry, on average since the last sample; nil when unlimited.
    public var capacity: BitRate?
    /// How long a packet sent now would wait in the link's queue.
    public var queueDelay: Duration
    /// How long the oldest packet has waited in the pacer.
    public var pacerDelay: Duration
    /// Whether the sender had media to send.
    public var isActive: Bool
}
