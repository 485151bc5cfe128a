extension JitterBuffer {
    /// The time limits of a jitter buffer.
    public struct Configuration: Hashable, Sendable {
        /// The time for which packets after a gap wait before the gap is abandoned; four round trips if that is longer
        /// (a second at most).
        public var maximumDelay: Duration
        /// The largest span of sequence numbers. A packet further ahead resets the buffer.
        public var capacity: Int
        /// True if the sender can be asked to send again.
        public var nackEnabled: Bool

        /// A capacity is held within 1...16384.
        public init(
            maximumDelay: Duration = .milliseconds(400), capacity: Int = 2048, nackEnabled: Bool = true
        ) {
            self.maximumDelay = maximumDelay
            self.capacity = min(max(capacity, 1), 16384)
            self.nackEnabled = nackEnabled
        }

        /// The configuration for senders that send nothing twice: it waits for reordered packets only.
        public static let withoutRetransmission = Configuration(maximumDelay: .milliseconds(50), nackEnabled: false)
    }

    /// The result of inserting a packet.
    public enum InsertResult: Hashable, Sendable {
        /// The packet was inserted.
        case inserted
        /// The packet was there already, and is dropped.
        case duplicate
        /// The packet precedes packets that were handed out: it had been abandoned, or was handed out before; or it
        /// repairs a stream that is elsewhere. It is dropped.
        case late
        /// The packet is too far ahead or behind to belong to the stream. The buffer is emptied, and the stream
        /// restarts with this packet.
        case overflow
    }

    public struct Statistics: Hashable, Sendable {
        /// Packets inserted, duplicates and late ones included.
        public var received: Int64 = 0
        public var duplicates: Int64 = 0
        public var late: Int64 = 0
        /// Packets that filled a gap before they were asked for.
        public var reordered: Int64 = 0
        /// Packets that filled a gap after they were asked for.
        public var recovered: Int64 = 0
        /// The number of abandoned packets.
        public var lost: Int64 = 0
        /// The sequence numbers asked for, repetitions included.
        public var requested: Int64 = 0
        /// The number of jumps of the stream at which the buffer restarted.
        public var resets: Int64 = 0
        /// Packets dropped by that, or because the stream goes on at a later packet.
        public var discarded: Int64 = 0

        public init() {}
    }
}
