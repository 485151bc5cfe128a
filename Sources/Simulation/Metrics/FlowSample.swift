/// A flow at one time, and what happened since the sample before.
public struct FlowSample: Codable, Hashable, Sendable {
    /// Seconds since the scenario began.
    public var time: Double
    /// What the controller aims at, in Mbit/s; nil for flows without one.
    public var target: Double?
    /// What left the sender, in Mbit/s.
    public var sendRate: Double
    /// All that arrived, in Mbit/s.
    public var receiveRate: Double
    /// What arrived of use, in Mbit/s.
    public var goodput: Double
    /// What the path could carry, in Mbit/s; nil when unlimited.
    public var capacity: Double?
    /// The wait in the path's queues, in ms.
    public var queueDelay: Double
    /// The wait at the sender, in ms.
    public var senderDelay: Double
    /// Whether the flow had something to send.
    public var isActive: Bool

    public enum CodingKeys: String, CodingKey {
        case time = "time_s"
        case target = "target_mbps"
        case sendRate = "send_mbps"
        case receiveRate = "recv_mbps"
        case goodput = "goodput_mbps"
        case capacity = "capacity_mbps"
        case queueDelay = "qdelay_ms"
        case senderDelay = "sender_delay_ms"
        case isActive = "active"
    }
}
