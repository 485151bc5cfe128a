/// What came of a scenario under a controller. The names in its JSON are stable.
public struct ScenarioResult: Codable, Hashable, Sendable {
    /// A flow's figures and course.
    public struct Flow: Codable, Hashable, Sendable {
        public var name: String
        /// media, audio, tcp or udp.
        public var kind: String
        /// The link of its way that carries least; nil when none is limited.
        public var bottleneck: String?
        /// The most that its source sends, in Mbit/s; nil for flows that take what there is.
        public var maximum: Double?
        public var metrics: MetricValues
        /// How it answered each step of a scripted rate, and else each change to a half or double.
        public var steps: [StepReaction]
        /// Delays at each percent from the least to the largest, in ms: of packets in queues, and of complete frames.
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

    /// What a link did with packets.
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
    /// Empty for none.
    public var suite: String
    public var title: String
    public var reference: String
    public var expectation: String
    public var controller: String
    public var seed: UInt64
    /// Seconds.
    public var duration: Double
    /// Events that the simulator handled.
    public var eventCount: Int
    /// Of all media flows together: rates are sums, fairness is among them, and the rest are means.
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
