/// The result of a scenario under a controller. The names in its JSON are stable.
public struct ScenarioResult: Codable, Hashable, Sendable {
    /// The figures and samples of a flow.
    public struct Flow: Codable, Hashable, Sendable {
        public var name: String
        /// The kind: media, audio, tcp or udp.
        public var kind: String
        /// The forward link with the least capacity; nil if none is limited.
        public var bottleneck: String?
        /// The highest rate of its source, in Mbit/s; nil for flows without a limit.
        public var maximum: Double?
        public var metrics: MetricValues
        /// The flow's reaction to each step of a scripted rate or, without a script, to each change to a half or
        /// double.
        public var steps: [StepReaction]
        /// The percentiles from 0 to 100 of the delays of packets in queues, and of complete frames, in ms.
        public var queueingDelayPercentiles: [Double]
        public var frameDelayPercentiles: [Double]
        public var samples: [FlowSample]

        public enum CodingKeys: String, CodingKey {
            case name
            case kind
            case bottleneck
            case maximum = "maximum_mbps"
            case metrics
            case steps
            case queueingDelayPercentiles = "qdelay_percentiles_ms"
            case frameDelayPercentiles = "frame_delay_percentiles_ms"
            case samples
        }
    }

    /// The packet counts of a link.
    public struct Link: Codable, Hashable, Sendable {
        public var name: String
        public var sentPackets: Int
        public var deliveredPackets: Int
        public var lostPackets: Int
        public var droppedPackets: Int
        public var markedPackets: Int
        public var deliveredBytes: Int

        public enum CodingKeys: String, CodingKey {
            case name
            case sentPackets = "sent_packets"
            case deliveredPackets = "delivered_packets"
            case lostPackets = "lost_packets"
            case droppedPackets = "dropped_packets"
            case markedPackets = "marked_packets"
            case deliveredBytes = "delivered_bytes"
        }
    }

    public var scenario: String
    /// The suite's name; empty for none.
    public var suite: String
    public var title: String
    public var reference: String
    public var expectation: String
    public var controller: String
    public var seed: UInt64
    /// The duration in seconds.
    public var duration: Double
    /// The number of events that the simulator handled.
    public var eventCount: Int
    /// The figures of all media flows together: rates are sums, fairness compares the flows, and the rest are means.
    public var metrics: MetricValues
    public var flows: [Flow]
    public var links: [Link]

    public enum CodingKeys: String, CodingKey {
        case scenario
        case suite
        case title
        case reference
        case expectation = "expected"
        case controller
        case seed
        case duration = "duration_s"
        case eventCount = "events"
        case metrics
        case flows
        case links
    }
}
