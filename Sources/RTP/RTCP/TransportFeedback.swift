import MediaCore

/// The arrivals of a transport's packets at a receiver, of all streams
/// (draft-holmer-rmcat-transport-wide-cc-extensions-01, section 3.1).
public struct TransportFeedback: Hashable, Sendable {
    static let format: UInt8 = 15

    public struct PacketStatus: Hashable, Sendable {
        public var sequence: UInt16
        /// The time in nanoseconds; the smallest number means "not received", which keeps the value small.
        private var deltaNanoseconds: Int64

        /// The receive delta's resolution on the wire.
        public static let deltaUnit: Duration = .microseconds(250)

        /// Creates the status of a packet; a delta of nil means that it was not received.
        public init(sequence: UInt16, receiveDelta: Duration?) {
            self.sequence = sequence
            deltaNanoseconds = receiveDelta.map { max($0.nanoseconds, .min + 1) } ?? .min
        }

        init(sequence: UInt16, deltaUnits: Int16) {
            self.sequence = sequence
            deltaNanoseconds = Int64(deltaUnits) * TransportFeedback.deltaUnitNanoseconds
        }

        /// The time from the arrival of the previous received packet in this list, or from the reference time for the
        /// first one; nil if the packet was not received. It is negative after reordering.
        ///
        /// It is written in units of 250 µs. Rounding errors do not add up over the list; the part of a delta beyond
        /// the wire format's ±8.19 s is carried to the next ones.
        public var receiveDelta: Duration? {
            get { isReceived ? .nanoseconds(deltaNanoseconds) : nil }
            set { self = PacketStatus(sequence: sequence, receiveDelta: newValue) }
        }

        public var isReceived: Bool { deltaNanoseconds != .min }

        var deltaInNanoseconds: Int64? { isReceived ? deltaNanoseconds : nil }
    }

    static let deltaUnitNanoseconds: Int64 = 250_000

    public var senderSSRC: UInt32
    /// Any one of the sources of the transport.
    public var mediaSSRC: UInt32
    /// The sequence number of the first packet reported on.
    public var baseSequence: UInt16
    /// The receiver's clock in units of 64 ms: 24 bits, signed, wrapping.
    public var referenceTime: Int32
    /// Counts feedback packets, to find lost ones.
    public var feedbackCount: UInt8
    /// The packets in ascending order from `baseSequence` on (modulo 2¹⁶). Those left out were not received, and
    /// entries out of order are ignored. Parsed feedback leaves out all missing packets but the last: a few bytes can
    /// tell of thousands.
    public var packets: [PacketStatus]

    public init(
        senderSSRC: UInt32, mediaSSRC: UInt32, baseSequence: UInt16, referenceTime: Int32, feedbackCount: UInt8,
        packets: [PacketStatus]
    ) {
        self.senderSSRC = senderSSRC
        self.mediaSSRC = mediaSSRC
        self.baseSequence = baseSequence
        self.referenceTime = referenceTime
        self.feedbackCount = feedbackCount
        self.packets = packets
    }

    /// The number of packets reported on, those left out included.
    public var statusCount: Int { packets.last.map { Int($0.sequence &- baseSequence) + 1 } ?? 0 }
}

/// The name by which users of feedback know it.
public typealias PacketStatus = TransportFeedback.PacketStatus
