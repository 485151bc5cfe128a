import MediaCore
import NIOCore
import RTP
import SDP

/// One incoming Opus stream. Ordering and concealment belong to the mixer's playout buffer; here packets are counted,
/// numbered, split if they repeat earlier ones, and forwarded.
final class AudioReceiveStream {
    private(set) var ssrc: UInt32?
    private(set) var reception = ReceptionStatistics(clockRate: 48_000)
    private var sequences = SequenceUnwrapper()
    private var packetsReceived: UInt64 = 0
    private var redundancy = RedundancyReceiver()
    /// The stream's last negotiation.
    var media: NegotiatedMedia?

    /// The stream's counters so far.
    var totals: AudioTotals { AudioTotals(packetsReceived: packetsReceived, repetitionsUsed: redundancy.usedCount) }

    /// - Parameter level: The level that the packet claims.
    func insert(
        _ packet: RTPPacket, level: AudioLevel?, size: DataSize, now: MonotonicInstant,
        deliver: (ReceivedAudioPacket) -> Void
    ) {
        if packet.ssrc != ssrc {
            ssrc = packet.ssrc
            reception = ReceptionStatistics(clockRate: 48_000)
            sequences = SequenceUnwrapper()
            redundancy.restart()
        }
        packetsReceived &+= 1
        reception.received(
            sequenceNumber: packet.sequenceNumber, timestamp: packet.timestamp, size: size, now: now)
        guard packet.payload.readableBytes > 0 else { return }
        let sequence = sequences.unwrap(packet.sequenceNumber)
        let content = media?.content ?? .main
        guard let media, packet.payloadType == media.redundancyPayloadType else {
            guard redundancy.record(sequence: sequence) else { return }
            deliver(
                ReceivedAudioPacket(
                    payload: packet.payload, rtpTimestamp: packet.timestamp, sequence: sequence, level: level,
                    arrival: now, content: content,
                    senderTime: reception.ntpTime(atTimestamp: packet.timestamp)))
            return
        }
        for payload in redundancy.payloads(of: packet, sequence: sequence, payloadType: media.payloadType) {
            deliver(
                ReceivedAudioPacket(
                    payload: payload.payload, rtpTimestamp: payload.timestamp, sequence: payload.sequence,
                    level: level, arrival: now, content: content,
                    senderTime: reception.ntpTime(atTimestamp: payload.timestamp)))
        }
    }

    func senderReportReceived(_ report: SenderReport, now: MonotonicInstant) {
        guard report.ssrc == ssrc else { return }
        reception.senderReportReceived(report, now: now)
    }

    func reportBlock(now: MonotonicInstant) -> ReportBlock? {
        ssrc.map { reception.makeReportBlock(ssrc: $0, now: now) }
    }
}
