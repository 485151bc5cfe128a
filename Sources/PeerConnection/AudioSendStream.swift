import MediaCore
import NIOCore
import RTP

/// One Opus stream on its way out.
final class AudioSendStream {
    /// Ticks of timestamps a second (RFC 7587 4.1).
    static let clockRate: Int32 = 48_000

    /// Samples of a packet of ours.
    private static let frameSampleCount: Int64 = 960

    let ssrc: UInt32
    var payloadType: UInt8
    /// The payload type of packets that repeat earlier ones; nil without such packets.
    var redundancyPayloadType: UInt8?
    /// The number of earlier payloads that a packet repeats.
    var redundancyDepth = 0
    /// The number of times that each payload is sent again.
    var repetitions: Int { redundancyPayloadType == nil ? 0 : redundancyDepth }
    private var redundancy = RedundancySender()
    private var redundantPacketsSent: UInt64 = 0
    /// The stream's counters so far.
    var totals: AudioTotals { AudioTotals(redPacketsSent: redundantPacketsSent) }
    /// Another sender's packets, which are sent in place of ours.
    private var forwarding: AudioForwardingStream?
    private var timestampOffset: UInt32
    private var sequenceNumber: UInt16
    /// The last packet of ours.
    private var last: (timestamp: UInt32, captureTime: MonotonicInstant)?
    private var isFirst = true

    private(set) var statistics = SendStatistics(clockRate: clockRate)

    init(ssrc: UInt32, payloadType: UInt8, using generator: inout some RandomNumberGenerator) {
        self.ssrc = ssrc
        self.payloadType = payloadType
        timestampOffset = .random(in: 0 ... .max, using: &generator)
        sequenceNumber = .random(in: 0..<0x8000, using: &generator)
    }

    /// A packet for one Opus frame. `sampleTime` counts samples at 48 kHz since the stream began.
    ///
    /// - Parameter lag: The time by which it is behind video of the same capture time, for sender reports.
    func packetize(
        _ payload: ByteBuffer, sampleTime: UInt32, captureTime: MonotonicInstant, lag: Duration
    ) -> RTPPacket {
        if let forwarding { end(forwarding, at: sampleTime, captureTime: captureTime) }
        defer {
            sequenceNumber &+= 1
            isFirst = false
        }
        let timestamp = timestampOffset &+ sampleTime
        last = (timestamp, captureTime)
        statistics.packetSent(
            timestamp: timestamp, payloadSize: DataSize(bytes: payload.readableBytes), captureTime: captureTime - lag)
        if let redundancyPayloadType,
            let redundant = redundancy.payload(
                payload, timestamp: timestamp, payloadType: payloadType, depth: redundancyDepth)
        {
            redundantPacketsSent &+= 1
            return RTPPacket(
                payloadType: redundancyPayloadType, marker: isFirst, sequenceNumber: sequenceNumber,
                timestamp: timestamp, ssrc: ssrc, payload: redundant)
        }
        return RTPPacket(
            payloadType: payloadType, marker: isFirst, sequenceNumber: sequenceNumber, timestamp: timestamp, ssrc: ssrc,
            payload: payload)
    }

    /// Takes a report of the receiver.
    func reportReceived(_ block: ReportBlock, ntpNow: NTPTime) {
        statistics.reportReceived(block, ntpNow: ntpNow)
    }

    // MARK: Another sender's packets

    /// Returns another sender's packet as one of this stream; nil if it comes too late. Numbers and timestamps
    /// continue, until our own next packet.
    func forward(_ packet: ReceivedAudioPacket, sampleCount: Int) -> RTPPacket? {
        var stream = forwarding ?? begin(at: packet)
        guard let place = stream.place(packet, sampleCount: sampleCount) else { return nil }
        forwarding = stream
        defer { isFirst = false }
        statistics.packetSent(
            timestamp: place.timestamp, payloadSize: DataSize(bytes: packet.payload.readableBytes),
            captureTime: stream.clock.due(place.timestamp))
        return RTPPacket(
            payloadType: payloadType, marker: isFirst, sequenceNumber: UInt16(truncatingIfNeeded: place.number),
            timestamp: place.timestamp, ssrc: ssrc, payload: packet.payload)
    }

    private func begin(at packet: ReceivedAudioPacket) -> AudioForwardingStream {
        var timestamp = timestampOffset
        if let last {
            let elapsed = MediaTime(packet.arrival - last.captureTime, timescale: Self.clockRate).value
            timestamp = last.timestamp &+ UInt32(truncatingIfNeeded: max(elapsed, Self.frameSampleCount))
        }
        return AudioForwardingStream(first: packet, as: Int64(sequenceNumber), timestamp: timestamp)
    }

    private func end(
        _ stream: AudioForwardingStream, at sampleTime: UInt32, captureTime: MonotonicInstant
    ) {
        forwarding = nil
        sequenceNumber = UInt16(truncatingIfNeeded: stream.next)
        let now = stream.clock.timestamp(at: captureTime)
        let timestamp = Int32(bitPattern: now &- stream.end) > 0 ? now : stream.end
        timestampOffset = timestamp &- sampleTime
        // Our packets from before do not directly precede the next one.
        redundancy = RedundancySender()
    }
}
