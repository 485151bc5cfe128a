public import MediaCore
public import NIOCore

/// The packets sent last, kept to be sent again when the receiver asks (RFC 4585 6.2.1).
public struct PacketHistory: Sendable {
    private struct Entry {
        var packet: ByteBuffer
        var sequenceNumber: UInt16
        var sentAt: MonotonicInstant
        var lastResent: MonotonicInstant?
    }

    /// How many packets are kept at most.
    public let maximumPacketCount: Int
    /// How long a packet can be asked for.
    public let maximumAge: Duration

    /// A ring by sequence number, its size a power of two so that it lines up where sequence numbers wrap.
    private var entries: [Entry?]
    private var newest: UInt16 = 0
    /// Where the search for old entries goes on.
    private var sweepIndex = 0
    /// How many packets are held.
    public private(set) var count = 0

    /// A packet count is held within 1...32768.
    public init(maximumPacketCount: Int = 1024, maximumAge: Duration = .seconds(1)) {
        self.maximumPacketCount = min(max(maximumPacketCount, 1), 32768)
        self.maximumAge = maximumAge
        var size = 1
        while size < self.maximumPacketCount { size *= 2 }
        entries = Array(repeating: nil, count: size)
    }

    /// Keeps a packet that is sent now, as it went out.
    public mutating func store(_ protectedPacket: ByteBuffer, sequenceNumber: UInt16, now: MonotonicInstant) {
        let index = Int(sequenceNumber) & (entries.count - 1)
        if entries[index] == nil { count += 1 }
        entries[index] = Entry(packet: protectedPacket, sequenceNumber: sequenceNumber, sentAt: now)
        newest = sequenceNumber
        // Two places looked at for each packet stored: none keeps an old packet for longer than half a turn.
        for _ in 0..<2 { sweep(now: now) }
    }

    /// A packet is not sent again more often than this, however short the round trip is said to be: the receiver says
    /// how long it is, and its requests must not make us send without bound.
    private static let minimumInterval = Duration.milliseconds(10)

    /// The packet to send again; nil when it is unknown, too old, or was sent again less than a round trip (10 ms at
    /// least) ago, so that the request may have crossed it. It counts as sent again now.
    public mutating func packet(
        _ sequenceNumber: UInt16, roundTripTime: Duration, now: MonotonicInstant
    ) -> ByteBuffer? {
        let index = Int(sequenceNumber) & (entries.count - 1)
        guard let entry = entries[index], entry.sequenceNumber == sequenceNumber,
            !isOutdated(entry, now: now)
        else { return nil }
        if let lastResent = entry.lastResent, now - lastResent < max(roundTripTime, Self.minimumInterval) { return nil }
        entries[index]?.lastResent = now
        return entry.packet
    }

    private func isOutdated(_ entry: Entry, now: MonotonicInstant) -> Bool {
        now - entry.sentAt > maximumAge || Int(newest &- entry.sequenceNumber) >= maximumPacketCount
    }

    private mutating func sweep(now: MonotonicInstant) {
        if let entry = entries[sweepIndex], isOutdated(entry, now: now) {
            entries[sweepIndex] = nil
            count -= 1
        }
        sweepIndex = (sweepIndex + 1) & (entries.count - 1)
    }
}
