public import MediaCore
public import NIOCore

/// Makes FlexFEC packets (draft-ietf-payload-flexible-fec-scheme-03) for one video stream: collects its packets when
/// they leave and protects them in groups.
///
/// A group ends with a frame, when it has enough packets or its oldest is old enough: a loss cannot be recovered before
/// the end of its group, and a group of few packets costs more in proportion.
public struct FlexFECEncoder: Sendable {
    /// The number of packets at which a group ends with the next frame.
    private static let sufficientPacketCount = 16
    /// The number of packets that ends a group, even within a frame: a mask of two parts holds no more.
    private static let maximumPacketCount = 46
    /// The largest growth of a packet by protection: the header with a mask of two parts.
    public static let maximumHeaderSize = FlexFECHeader.size(span: maximumPacketCount)

    public let ssrc: UInt32
    public var payloadType: UInt8
    /// The elements of header extensions that count as zeros.
    public var mutableExtensions: MutableExtensions

    private var protection = Protection.none
    private var group: [ByteBuffer] = []
    private var base: UInt16 = 0
    private var newest: UInt16 = 0
    private var mediaSSRC: UInt32 = 0
    private var timestamp: UInt32 = 0
    private var groupStart = MonotonicInstant.zero
    private var sequenceNumber: UInt16
    private var parity = PacketParity()
    /// The fractions of repair packets that are still to be sent.
    private var owed = 0.0

    /// The time to call `finishDue(now:)`; nil while nothing waits. It is stored, so that a read copies nothing else.
    public private(set) var nextDeadline: MonotonicInstant?
    /// The number of repair packets made.
    public private(set) var packetCount: UInt64 = 0
    /// The size of repair packets relative to the protected ones, over the last groups; zero without protection.
    public private(set) var overhead = 0.0

    /// - Parameters:
    ///   - ssrc: The source of the repair packets.
    ///   - generator: Makes their first sequence number.
    public init(
        ssrc: UInt32, payloadType: UInt8, mutableExtensions: MutableExtensions,
        using generator: inout some RandomNumberGenerator
    ) {
        self.ssrc = ssrc
        self.payloadType = payloadType
        self.mutableExtensions = mutableExtensions
        sequenceNumber = .random(in: 0..<0x8000, using: &generator)
        group.reserveCapacity(Self.maximumPacketCount)
    }

    /// True if packets are protected.
    public var isActive: Bool { protection.isActive }

    /// Sets the protection of the next packets. Without protection, a waiting group is dropped.
    public mutating func setProtection(_ protection: Protection) {
        defer { updateDeadline() }
        self.protection = protection
        guard protection.rate <= 0 else { return }
        group.removeAll(keepingCapacity: true)
        overhead = 0
        owed = 0
    }

    /// Takes a packet of the stream when it leaves, before it is encrypted; `bytes` is the whole packet. A packet of
    /// padding alone is not protected.
    public mutating func add(_ packet: RTPPacket, bytes: ByteBuffer, now: MonotonicInstant) -> [RTPPacket] {
        guard protection.rate > 0, packet.paddingLength == 0 else { return [] }
        defer { updateDeadline() }
        var repair: [RTPPacket] = []
        let offset = packet.sequenceNumber &- base
        if !group.isEmpty, packet.ssrc != mediaSSRC || packet.sequenceNumber &- newest != 1 || offset >= 46 {
            // A gap within a group would only make the mask longer; a jump would leave it.
            repair = finishGroup()
        }
        if group.isEmpty {
            base = packet.sequenceNumber
            mediaSSRC = packet.ssrc
            groupStart = now
        }
        newest = packet.sequenceNumber
        timestamp = packet.timestamp
        group.append(bytes)
        let isEnough =
            group.count >= Self.sufficientPacketCount || now - groupStart >= protection.delay
        if group.count >= Self.maximumPacketCount || (packet.marker && isEnough) {
            repair += finishGroup()
        }
        return repair
    }

    /// Ends a group that nothing was added to for too long.
    public mutating func finishDue(now: MonotonicInstant) -> [RTPPacket] {
        guard let nextDeadline, nextDeadline <= now else { return [] }
        defer { updateDeadline() }
        return finishGroup()
    }

    private mutating func updateDeadline() { nextDeadline = group.isEmpty ? nil : groupStart + protection.delay }

    private mutating func finishGroup() -> [RTPPacket] {
        defer { group.removeAll(keepingCapacity: true) }
        let count = repairCount()
        var repair: [RTPPacket] = []
        repair.reserveCapacity(count)
        var repairSize = 0
        for index in 0..<count {
            let payload = makePayload(index, of: count)
            repairSize += payload.readableBytes
            repair.append(
                RTPPacket(
                    payloadType: payloadType, sequenceNumber: sequenceNumber, timestamp: timestamp, ssrc: ssrc,
                    payload: payload))
            sequenceNumber &+= 1
        }
        packetCount &+= UInt64(count)
        let groupSize = group.reduce(0) { $0 + $1.readableBytes }
        if groupSize > 0 {
            let measured = min(Double(repairSize) / Double(groupSize), 1)
            overhead = overhead == 0 ? measured : overhead + (measured - overhead) / 8
        }
        return repair
    }

    /// Returns the number of repair packets for the group. Fractions are kept for the next groups; bursts raise the
    /// number, up to the number of packets.
    private mutating func repairCount() -> Int {
        owed = min(owed, 1) + protection.rate * Double(group.count)
        var count = Int(clamping: owed)
        owed -= Double(count)
        if count < protection.burst {
            // The additional packets for bursts are not saved again.
            count = min(protection.burst, (group.count + 1) / 2)
        }
        return min(max(count, 0), group.count)
    }

    private mutating func makePayload(_ repair: Int, of count: Int) -> ByteBuffer {
        parity.reset()
        var mask = FlexFECMask()
        for (index, bytes) in group.enumerated()
        where protection.pattern.protects(index, by: repair, of: count) {
            parity.add(bytes, zeroing: mutableExtensions.ranges(in: bytes))
            mask.insert(index)
        }
        let header = FlexFECHeader(
            flags: parity.flags, length: parity.length, timestamp: parity.timestamp, ssrc: mediaSSRC, base: base,
            mask: mask)
        var payload = ByteBufferAllocator().buffer(capacity: header.encodedSize + parity.bytes.count)
        header.encode(into: &payload)
        payload.writeBytes(parity.bytes)
        return payload
    }
}
