import H264
import MediaCore
import NIOCore
import RTP
import VideoCoding

/// One H.264 stream on its way out: parameter sets, packetization, numbering, and which keyframe requests are new.
struct VideoSendStream {
    /// Requests closer together than this are one request: the keyframe for the first is still on its way.
    static let keyFrameRequestWindow = Duration.milliseconds(300)

    let ssrc: UInt32
    let payloadType: UInt8
    private let packetizer: H264Packetizer
    private let timestampOffset: UInt32
    private var sequenceNumber: UInt16
    private var lastKeyFrameRequest: MonotonicInstant?
    private var lastFullIntraRequest: UInt8?

    var statistics = SendStatistics(clockRate: 90_000)
    private(set) var framesSent: UInt64 = 0
    private(set) var keyFramesSent: UInt64 = 0
    private(set) var keyFrameRequests: UInt64 = 0
    /// The RTP timestamp of the newest frame.
    private var latestTimestamp: UInt32?

    init(
        ssrc: UInt32, payloadType: UInt8, mode: PacketizationMode, maximumPayloadSize: Int,
        using generator: inout some RandomNumberGenerator
    ) {
        self.ssrc = ssrc
        self.payloadType = payloadType
        packetizer = H264Packetizer(mode: mode, maximumPayloadSize: maximumPayloadSize)
        timestampOffset = .random(in: 0 ... .max, using: &generator)
        // A first number in the lower half keeps the roll-over counter that SRTP guesses at zero (RFC 3711 3.3.1).
        sequenceNumber = .random(in: 0..<0x8000, using: &generator)
    }

    /// The packets of `frame`, the parameter sets ahead of a keyframe, the marker on the last.
    mutating func packetize(_ frame: EncodedFrame, captureTime: MonotonicInstant) -> [RTPPacket] {
        guard let units = try? frame.sample.nalUnits() else { return [] }
        if frame.isKeyFrame { keyFramesSent &+= 1 }
        framesSent &+= 1
        let timestamp = rtpTimestamp(at: captureTime)
        latestTimestamp = timestamp
        let payloads = packetizer.packetize(units)
        return payloads.enumerated().map { index, payload in
            defer { sequenceNumber &+= 1 }
            return RTPPacket(
                payloadType: payloadType, marker: index == payloads.count - 1, sequenceNumber: sequenceNumber,
                timestamp: timestamp, ssrc: ssrc, payload: payload)
        }
    }

    /// An empty packet of padding, for probing: it carries the newest frame's timestamp and no payload.
    mutating func makePadding() -> RTPPacket? {
        guard let latestTimestamp else { return nil }
        defer { sequenceNumber &+= 1 }
        return RTPPacket(
            payloadType: payloadType, marker: false, sequenceNumber: sequenceNumber,
            timestamp: latestTimestamp, ssrc: ssrc, payload: ByteBuffer(), paddingLength: .max)
    }

    /// The RTP timestamp (90 kHz) of an instant.
    private func rtpTimestamp(at instant: MonotonicInstant) -> UInt32 {
        timestampOffset
            &+ UInt32(
                truncatingIfNeeded: MediaTime(
                    value: instant.nanoseconds, timescale: 1_000_000_000
                ).converted(toTimescale: 90_000).value)
    }

    /// Counts a packet that leaves. Timestamps run with the clock, so that this instant stands for the packet's.
    mutating func sent(payloadSize: DataSize, now: MonotonicInstant) {
        statistics.packetSent(timestamp: rtpTimestamp(at: now), payloadSize: payloadSize, captureTime: now)
    }

    /// Whether a picture loss indication asks for something new.
    mutating func pictureLossIndicated(now: MonotonicInstant) -> Bool {
        if let lastKeyFrameRequest, now - lastKeyFrameRequest < Self.keyFrameRequestWindow { return false }
        lastKeyFrameRequest = now
        keyFrameRequests &+= 1
        return true
    }

    /// Whether a full intra request asks for something new; repeats carry the same number (RFC 5104 4.3.1.2).
    mutating func fullIntraRequested(commandSequence: UInt8, now: MonotonicInstant) -> Bool {
        guard commandSequence != lastFullIntraRequest, pictureLossIndicated(now: now) else { return false }
        lastFullIntraRequest = commandSequence
        return true
    }
}
