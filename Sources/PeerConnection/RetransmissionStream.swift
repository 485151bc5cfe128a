import MediaCore
import RTP

/// The stream that retransmits packets of another stream (RFC 4588): it has its own source, numbers and payload type,
/// so that a retransmission counts as a packet of its own for congestion control and for loss.
struct RetransmissionStream {
    let ssrc: UInt32
    var payloadType: UInt8
    private var sequenceNumber: UInt16
    private(set) var history = PacketHistory<RTPPacket>()

    init(ssrc: UInt32, payloadType: UInt8, using generator: inout some RandomNumberGenerator) {
        self.ssrc = ssrc
        self.payloadType = payloadType
        sequenceNumber = .random(in: 0..<0x8000, using: &generator)
    }

    mutating func store(_ packet: RTPPacket, now: MonotonicInstant) {
        history.store(packet, sequenceNumber: packet.sequenceNumber, now: now)
    }

    /// The packet to send for a request; nil when it cannot or need not be sent again now.
    mutating func packet(_ requested: UInt16, roundTripTime: Duration, now: MonotonicInstant) -> RTPPacket? {
        guard let original = history.packet(requested, roundTripTime: roundTripTime, now: now) else { return nil }
        defer { sequenceNumber &+= 1 }
        return original.retransmission(payloadType: payloadType, ssrc: ssrc, sequenceNumber: sequenceNumber)
    }

    /// An empty packet of padding: numbered here, it leaves no holes in the stream of media.
    mutating func makePadding(timestamp: UInt32) -> RTPPacket {
        defer { sequenceNumber &+= 1 }
        return .padding(payloadType: payloadType, ssrc: ssrc, sequenceNumber: sequenceNumber, timestamp: timestamp)
    }
}
