import MediaCore
import NIOCore
import RTP

/// One Opus stream on its way in. Ordering and concealment belong to the mixer's playout buffer; here packets are
/// counted, numbered and passed on.
struct AudioReceiveStream {
    private(set) var ssrc: UInt32?
    private(set) var reception = ReceptionStatistics(clockRate: 48_000)
    private var sequences = SequenceUnwrapper()
    private(set) var packetsReceived: UInt64 = 0

    mutating func insert(_ packet: RTPPacket, size: DataSize, now: MonotonicInstant) -> ReceivedAudioPacket? {
        if packet.ssrc != ssrc {
            ssrc = packet.ssrc
            reception = ReceptionStatistics(clockRate: 48_000)
            sequences = SequenceUnwrapper()
        }
        packetsReceived &+= 1
        reception.received(
            sequenceNumber: packet.sequenceNumber, timestamp: packet.timestamp, size: size, now: now)
        guard packet.payload.readableBytes > 0 else { return nil }
        return ReceivedAudioPacket(
            payload: packet.payload, rtpTimestamp: packet.timestamp,
            sequence: sequences.unwrap(packet.sequenceNumber), arrival: now)
    }

    mutating func senderReportReceived(_ report: SenderReport, now: MonotonicInstant) {
        guard report.ssrc == ssrc else { return }
        reception.senderReportReceived(report, now: now)
    }

    mutating func reportBlock(now: MonotonicInstant) -> ReportBlock? {
        ssrc.map { reception.makeReportBlock(ssrc: $0, now: now) }
    }
}
