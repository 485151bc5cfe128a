import MediaCore
import NIOCore
import RTP

/// One Opus stream on its way out.
struct AudioSendStream {
    let ssrc: UInt32
    var payloadType: UInt8
    /// That of packets that repeat earlier ones; nil where there are to be none.
    var redundancyPayloadType: UInt8?
    /// How many earlier payloads a packet repeats.
    var redundancyDepth = 0
    /// How often each payload is sent again.
    var repetitions: Int { redundancyPayloadType == nil ? 0 : redundancyDepth }
    private var redundancy = RedundancySender()
    private(set) var redundantPacketsSent: UInt64 = 0
    private let timestampOffset: UInt32
    private var sequenceNumber: UInt16
    private var isFirst = true

    var statistics = SendStatistics(clockRate: 48_000)

    init(ssrc: UInt32, payloadType: UInt8, using generator: inout some RandomNumberGenerator) {
        self.ssrc = ssrc
        self.payloadType = payloadType
        timestampOffset = .random(in: 0 ... .max, using: &generator)
        sequenceNumber = .random(in: 0..<0x8000, using: &generator)
    }

    /// A packet for one Opus frame. `sampleTime` counts samples at 48 kHz since the stream began.
    mutating func packetize(
        _ payload: ByteBuffer, sampleTime: UInt32, captureTime: MonotonicInstant
    ) -> RTPPacket {
        defer {
            sequenceNumber &+= 1
            isFirst = false
        }
        let timestamp = timestampOffset &+ sampleTime
        statistics.packetSent(
            timestamp: timestamp, payloadSize: DataSize(bytes: payload.readableBytes), captureTime: captureTime)
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
}
