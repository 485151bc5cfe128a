import MediaCore
public import NIOCore

/// Takes the payloads out of packets that repeat earlier ones (RFC 2198), each payload once.
public struct RedundancyReceiver: Sendable {
    /// A payload and the packet that it is, or was, of.
    public struct Payload: Hashable, Sendable {
        public var payload: ByteBuffer
        public var timestamp: UInt32
        /// The unwrapped sequence number.
        public var sequence: Int64
    }

    /// Payloads of packets that had not come, taken from later ones.
    public private(set) var usedCount: UInt64 = 0
    /// Packets that could not be read.
    public private(set) var malformedCount: UInt64 = 0

    private var arrived = RecentNumbers()

    public init() {}

    /// The stream begins again.
    public mutating func restart() { arrived = RecentNumbers() }

    /// Records a packet without repetitions. Returns true if its payload is new, also compared with repetitions.
    public mutating func record(sequence: Int64) -> Bool { isNew(sequence) }

    /// Returns the new payloads of a packet, the oldest first.
    ///
    /// - Parameter payloadType: The accepted payload type; others are left out.
    public mutating func payloads(
        of packet: RTPPacket, sequence: Int64, payloadType: UInt8
    ) -> [Payload] {
        guard let redundant = try? RedundantPayload(parsing: packet.payload),
            redundant.payloadType == payloadType
        else {
            malformedCount &+= 1
            return []
        }
        let start = arrived.newest
        var payloads: [Payload] = []
        for (index, block) in redundant.earlier.enumerated() where block.payloadType == payloadType {
            // Blocks have no numbers: they are those of the packets right before.
            let number = sequence - Int64(redundant.earlier.count - index)
            // Payloads from before the first packet are not needed.
            guard block.age > 0, block.payload.readableBytes > 0, let start, number > start - RecentNumbers.count,
                isNew(number)
            else { continue }
            usedCount &+= 1
            payloads.append(
                Payload(payload: block.payload, timestamp: packet.timestamp &- UInt32(block.age), sequence: number))
        }
        if isNew(sequence), redundant.payload.readableBytes > 0 {
            payloads.append(Payload(payload: redundant.payload, timestamp: packet.timestamp, sequence: sequence))
        }
        return payloads
    }

    /// Records a packet, and returns true if it had not come before. A packet that is too old to be known counts as
    /// new; the playout buffer decides.
    private mutating func isNew(_ sequence: Int64) -> Bool { arrived.insert(sequence) != .repeated }
}
