public import MediaCore

/// The last sent packets, stored for retransmission at the receiver's request (RFC 4585 6.2.1).
///
/// The caller chooses the stored form of a packet: its sent bytes if those are sent again, or the packet itself if it
/// is sent in a stream of retransmissions (RFC 4588). Code that depends on its type is inlinable: callers in other
/// modules get code for their own type.
public struct PacketHistory<Packet: Sendable>: Sendable {
    /// The number and times of a stored packet.
    @usableFromInline
    struct Record: Sendable {
        @usableFromInline var sequenceNumber: UInt16
        @usableFromInline var sentAt: MonotonicInstant
        @usableFromInline var lastResent: MonotonicInstant?

        @inlinable
        init(sequenceNumber: UInt16, sentAt: MonotonicInstant) {
            self.sequenceNumber = sequenceNumber
            self.sentAt = sentAt
        }
    }

    /// The largest number of stored packets.
    public let maximumPacketCount: Int
    /// The time for which a packet can be requested; three times as long for the latest few. A stream of a still
    /// picture sends a frame a second, and a loss shows only with the next one.
    public let maximumAge: Duration
    /// The number of packets that count as the latest.
    @usableFromInline static var latestCount: Int { 32 }

    /// A ring by sequence number. Its size is a power of two, so that it fits the wrap-around of sequence numbers.
    @usableFromInline var packets: [Packet?]
    /// A ring of the same size. The search for old packets reads it alone: it has no references that would be copied.
    @usableFromInline var records: [Record?]
    @usableFromInline var newest: UInt16 = 0
    /// The place at which the search for old packets continues.
    @usableFromInline var sweepIndex = 0
    @usableFromInline var heldCount = 0

    /// The number of stored packets.
    public var count: Int { heldCount }

    /// A packet count is held within 1...32768.
    @inlinable
    public init(maximumPacketCount: Int = 1024, maximumAge: Duration = .seconds(1)) {
        self.maximumPacketCount = min(max(maximumPacketCount, 1), 32768)
        self.maximumAge = maximumAge
        var size = 1
        while size < self.maximumPacketCount { size *= 2 }
        packets = Array(repeating: nil, count: size)
        records = Array(repeating: nil, count: size)
    }

    /// Keeps a packet that is sent now.
    @inlinable
    public mutating func store(_ packet: Packet, sequenceNumber: UInt16, now: MonotonicInstant) {
        let index = Int(sequenceNumber) & (records.count - 1)
        // A packet that is forwarded out of order makes those after it no older.
        if heldCount == 0 || Int16(bitPattern: sequenceNumber &- newest) > 0 { newest = sequenceNumber }
        if records[index] == nil { heldCount += 1 }
        packets[index] = packet
        records[index] = Record(sequenceNumber: sequenceNumber, sentAt: now)
        // Two places looked at for each packet stored: none keeps an old packet for longer than half a turn.
        for _ in 0..<2 { sweep(now: now) }
    }

    /// A packet is not sent again more often than this, however short the round trip is said to be: the receiver says
    /// how long it is, and its requests must not make us send without bound.
    @usableFromInline static var minimumInterval: Duration { .milliseconds(10) }

    /// Returns the packet to send again; nil if it is unknown, too old, or was sent again less than a round trip (10 ms
    /// at least) ago, so that the request may have crossed it. It counts as sent again now.
    @inlinable
    public mutating func packet(
        _ sequenceNumber: UInt16, roundTripTime: Duration, now: MonotonicInstant
    ) -> Packet? {
        let index = Int(sequenceNumber) & (records.count - 1)
        guard let record = records[index], record.sequenceNumber == sequenceNumber, !isOutdated(record, now: now) else {
            return nil
        }
        if let lastResent = record.lastResent, now - lastResent < max(roundTripTime, Self.minimumInterval) {
            return nil
        }
        records[index]?.lastResent = now
        return packets[index]
    }

    /// Returns the time since a packet was sent; nil if it is not kept.
    @inlinable
    public func age(of sequenceNumber: UInt16, now: MonotonicInstant) -> Duration? {
        let record = records[Int(sequenceNumber) & (records.count - 1)]
        guard let record, record.sequenceNumber == sequenceNumber, !isOutdated(record, now: now) else { return nil }
        return now - record.sentAt
    }

    /// Returns true if a packet was sent and is kept no more. Then those before it are not kept either: otherwise it
    /// has not been sent yet, as a forwarded packet that the relay waits for itself.
    @inlinable
    public func isGone(_ sequenceNumber: UInt16, now: MonotonicInstant) -> Bool {
        (0..<maximumPacketCount).allSatisfy { distance in
            age(of: sequenceNumber &- UInt16(truncatingIfNeeded: distance), now: now) == nil
        }
    }

    @inlinable
    func isOutdated(_ record: Record, now: MonotonicInstant) -> Bool {
        let count = Int(newest &- record.sequenceNumber)
        let limit = count < Self.latestCount ? maximumAge * 3 : maximumAge
        return now - record.sentAt > limit || count >= maximumPacketCount
    }

    @inlinable
    mutating func sweep(now: MonotonicInstant) {
        if let record = records[sweepIndex], isOutdated(record, now: now) {
            packets[sweepIndex] = nil
            records[sweepIndex] = nil
            heldCount -= 1
        }
        sweepIndex = (sweepIndex + 1) & (records.count - 1)
    }
}
