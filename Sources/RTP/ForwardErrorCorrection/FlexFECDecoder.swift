public import NIOCore

/// Recovers lost packets of one stream from FlexFEC packets (draft-ietf-payload-flexible-fec-scheme-03, section 6.3).
///
/// Pass in arriving packets in any order: those of the stream and its repair packets. A repair packet with all of its
/// packets but one recovers that one, which may help another repair packet. The memory is limited: it keeps the last
/// packets and repair packets. Nothing is kept before the first repair packet, so a stream without protection costs
/// nothing.
public struct FlexFECDecoder: Sendable {
    /// The number of the stream's sequence numbers that are kept: more than a mask spans.
    static let packetCapacity = 256
    /// The largest number of waiting repair packets.
    static let repairCapacity = 64

    public struct Statistics: Hashable, Sendable {
        /// The number of received repair packets.
        public var received: UInt64 = 0
        /// Packets that were recovered.
        public var recovered: UInt64 = 0
        /// Repair packets that could not be read, that protect another stream or that gave nonsense.
        public var malformed: UInt64 = 0

        public init() {}
    }

    private struct Entry: Sendable {
        var sequenceNumber: UInt16
        var bytes: ByteBuffer
        /// Looked for once: each of thousands of repair packets may need the packet, whose extension may be long.
        var mutable: MutableExtensions.Ranges
    }

    private struct Repair: Sendable {
        var header: FlexFECHeader
        /// The packets of the mask that have not arrived.
        var missing: FlexFECMask
        var bytes: ByteBuffer
    }

    /// The stream that is repaired.
    public let ssrc: UInt32
    /// The elements of header extensions that count as zeros.
    public var mutableExtensions: MutableExtensions
    public private(set) var statistics = Statistics()

    /// A ring by sequence number.
    private var entries: [Entry?] = []
    private var newest: UInt16?
    private var repairs: [Repair] = []

    public init(ssrc: UInt32, mutableExtensions: MutableExtensions) {
        self.ssrc = ssrc
        self.mutableExtensions = mutableExtensions
    }

    /// Takes an arrived packet of the stream; `bytes` is the whole packet, decrypted. Do not pass in retransmissions:
    /// their header extensions may differ from the protected ones.
    ///
    /// - Returns: The packets that can be recovered now.
    public mutating func insert(_ packet: RTPPacket, bytes: ByteBuffer) -> [RTPPacket] {
        guard packet.ssrc == ssrc else { return [] }
        record(packet.sequenceNumber)
        guard !entries.isEmpty, keep(bytes, packet.sequenceNumber) else { return [] }
        return recover()
    }

    /// Takes the payload of a FlexFEC packet.
    ///
    /// - Returns: The packets that can be recovered now.
    public mutating func insert(repair payload: ByteBuffer) -> [RTPPacket] {
        statistics.received &+= 1
        var bytes = payload
        guard let header = try? FlexFECHeader(reading: &bytes), header.ssrc == ssrc else {
            statistics.malformed &+= 1
            return []
        }
        if entries.isEmpty { entries = Array(repeating: nil, count: Self.packetCapacity) }
        guard isNear(header.base &+ UInt16(truncatingIfNeeded: header.mask.span - 1)), isNear(header.base) else {
            return []
        }
        var repair = Repair(header: header, missing: header.mask, bytes: bytes)
        for offset in header.mask where entry(header.base &+ UInt16(truncatingIfNeeded: offset)) != nil {
            repair.missing.remove(offset)
        }
        guard !repair.missing.isEmpty else { return [] }
        if repairs.count >= Self.repairCapacity { repairs.removeFirst() }
        repairs.append(repair)
        return recover()
    }

    // MARK: Kept packets

    /// Returns true if a sequence number is close enough to the newest one. Before the first packet all are.
    private func isNear(_ sequenceNumber: UInt16) -> Bool {
        newest.map { Self.isNear(sequenceNumber, to: $0) } ?? true
    }

    private static func isNear(_ sequenceNumber: UInt16, to newest: UInt16) -> Bool {
        let distance = Int(Int16(bitPattern: sequenceNumber &- newest))
        return distance > -packetCapacity && distance < FlexFECMask.maximumSpan
    }

    private mutating func record(_ sequenceNumber: UInt16) {
        guard let newest, isNear(sequenceNumber) else {
            // The stream began, or restarted elsewhere.
            newest = sequenceNumber
            for index in entries.indices { entries[index] = nil }
            repairs.removeAll(keepingCapacity: true)
            return
        }
        guard Int16(bitPattern: sequenceNumber &- newest) > 0 else { return }
        self.newest = sequenceNumber
        repairs.removeAll { repair in !Self.isNear(repair.header.base, to: sequenceNumber) }
    }

    private func entry(_ sequenceNumber: UInt16) -> Entry? {
        guard !entries.isEmpty, let entry = entries[Int(sequenceNumber) % Self.packetCapacity],
            entry.sequenceNumber == sequenceNumber
        else { return nil }
        return entry
    }

    /// Keeps a packet; returns whether a repair packet may be of use now.
    private mutating func keep(_ bytes: ByteBuffer, _ sequenceNumber: UInt16) -> Bool {
        guard entry(sequenceNumber) == nil else { return false }
        entries[Int(sequenceNumber) % Self.packetCapacity] = Entry(
            sequenceNumber: sequenceNumber, bytes: bytes, mutable: mutableExtensions.ranges(in: bytes))
        var isOfUse = false
        for index in repairs.indices {
            let offset = Int(sequenceNumber &- repairs[index].header.base)
            guard repairs[index].missing.contains(offset) else { continue }
            repairs[index].missing.remove(offset)
            isOfUse = isOfUse || repairs[index].missing.count < 2
        }
        return isOfUse
    }

    // MARK: Recovery

    private mutating func recover() -> [RTPPacket] {
        var recovered: [RTPPacket] = []
        // Each turn removes a repair packet, so the number of turns is limited.
        while let index = repairs.firstIndex(where: { $0.missing.count < 2 }) {
            let repair = repairs.remove(at: index)
            guard let offset = repair.missing.first else { continue }
            guard let (packet, bytes) = recover(offset, by: repair) else {
                statistics.malformed &+= 1
                continue
            }
            statistics.recovered &+= 1
            recovered.append(packet)
            record(packet.sequenceNumber)
            _ = keep(bytes, packet.sequenceNumber)
        }
        return recovered
    }

    private func recover(_ missing: Int, by repair: Repair) -> (RTPPacket, ByteBuffer)? {
        let header = repair.header
        var parity = PacketParity(header, bytes: repair.bytes)
        for offset in header.mask where offset != missing {
            guard let entry = entry(header.base &+ UInt16(truncatingIfNeeded: offset)) else { return nil }
            parity.addHeader(entry.bytes)
        }
        // Most nonsense shows before the bytes of a hundred packets are added.
        guard parity.isPossible else { return nil }
        for offset in header.mask where offset != missing {
            guard let entry = entry(header.base &+ UInt16(truncatingIfNeeded: offset)) else { return nil }
            parity.addBody(entry.bytes, zeroing: entry.mutable)
        }
        let sequenceNumber = header.base &+ UInt16(truncatingIfNeeded: missing)
        guard let bytes = parity.packet(ssrc: ssrc, sequenceNumber: sequenceNumber),
            let packet = try? RTPPacket(parsing: bytes), packet.paddingLength == 0, packet.payload.readableBytes > 0
        else { return nil }
        return (packet, bytes)
    }
}
