extension JitterBuffer {
    /// How patient a jitter buffer is.
    public struct Configuration: Hashable, Sendable {
        /// How long the packets behind a gap wait for it to fill before it is given up, or two round trips if that is
        /// longer (a second at most).
        public var maximumDelay: Duration
        /// How many sequence numbers the buffer spans at most. A packet further ahead resets it.
        public var capacity: Int
        /// Whether the sender can be asked to send again.
        public var nackEnabled: Bool
        /// How long a gap may be mere reordering, before its packets are asked for.
        public var reorderAllowance: Duration
        /// How often a packet is asked for at most.
        public var maximumRequestCount: Int

        /// A capacity is held within 1...16384.
        public init(
            maximumDelay: Duration = .milliseconds(400), capacity: Int = 2048, nackEnabled: Bool = true,
            reorderAllowance: Duration = .milliseconds(5), maximumRequestCount: Int = 10
        ) {
            self.maximumDelay = maximumDelay
            self.capacity = min(max(capacity, 1), 16384)
            self.nackEnabled = nackEnabled
            self.reorderAllowance = reorderAllowance
            self.maximumRequestCount = maximumRequestCount
        }

        /// For senders that send nothing twice: waits for reordered packets only.
        public static let withoutRetransmission = Configuration(maximumDelay: .milliseconds(50), nackEnabled: false)
    }

    /// What became of a packet.
    public enum InsertResult: Hashable, Sendable {
        /// It has its place now.
        case inserted
        /// It was here already and is dropped.
        case duplicate
        /// It lies behind what was handed out: it had been given up, or was handed out before. It is dropped.
        case late
        /// It lies too far ahead or behind to belong to the stream so far. What was buffered is dropped, and the
        /// stream starts anew with this packet.
        case overflow
    }

    /// What happened so far.
    public struct Statistics: Hashable, Sendable {
        /// Packets inserted, duplicates and late ones included.
        public var received: Int64 = 0
        public var duplicates: Int64 = 0
        public var late: Int64 = 0
        /// Packets that filled a gap before they were asked for.
        public var reordered: Int64 = 0
        /// Packets that filled a gap after they were asked for.
        public var recovered: Int64 = 0
        /// Packets given up.
        public var lost: Int64 = 0
        /// Sequence numbers asked for, repetitions included.
        public var requested: Int64 = 0
        /// How often the stream jumped and the buffer started anew.
        public var resets: Int64 = 0
        /// Packets dropped by that.
        public var discarded: Int64 = 0

        public init() {}
    }
}
