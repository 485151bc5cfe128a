/// The state of a flow at one time, and its activity since the preceding sample.
public struct FlowSample: Codable, Hashable, Sendable {
    /// The time in seconds since the scenario began.
    public var time: Double
    /// The controller's target, in Mbit/s; nil for flows without a controller.
    public var target: Double?
    /// The rate that left the sender, in Mbit/s.
    public var sendRate: Double
    /// The rate of all packets that arrived, in Mbit/s.
    public var receiveRate: Double
    /// The rate of useful data that arrived, in Mbit/s.
    public var goodput: Double
    /// The capacity of the path, in Mbit/s; nil if unlimited.
    public var capacity: Double?
    /// The wait in the path's queues, in ms.
    public var queueDelay: Double
    /// The wait at the sender, in ms.
    public var senderDelay: Double
    /// True if the flow had data to send.
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
