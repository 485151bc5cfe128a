import H264
import MediaCore
import NIOCore
package import RTP
import SDP
package import SecureTransport
import VideoCoding

/// One H.264 stream on its way out: parameter sets, packetization, numbering, what is kept to be sent again, and which
/// keyframe requests are new.
struct VideoSendStream {
    /// Requests closer together than this are one request: the keyframe for the first is still on its way.
    static let keyframeRequestWindow = Duration.milliseconds(300)
    /// What timestamps count a second (RFC 6184 8.1).
    static let clockRate: Int32 = 90_000

    let ssrc: UInt32
    private(set) var payloadType: UInt8
    private(set) var packetizer: H264Packetizer
    private let timestampOffset: UInt32
    /// By how much timestamps are ahead of the clock: what was forwarded before may have been.
    var timestampShift: UInt32 = 0
    /// Of the next packet.
    var sequenceNumber: UInt16
    private var lastKeyframeRequest: MonotonicInstant?
    private var lastFullIntraRequest: UInt8?
    private(set) var orientationID: UInt8?
    var lastRotation: VideoRotation?
    /// How another sender's packets are forwarded, or were last: what was missed of them may still come.
    var forwarding: ForwardingStream?
    /// The packets sent last, as they went out: they are repeated byte by byte. A second ciphertext under one packet
    /// index would break SRTP's keys.
    private var repetitions: PacketHistory<ByteBuffer>?
    private var retransmissions: RetransmissionStream?
    /// Forward error correction, where it was negotiated.
    private(set) var flexFEC: FlexFECEncoder?
    /// What the receiver may tell to have; nil where it was not negotiated to.
    private(set) var sentPictures: SentPictures?

    var statistics = SendStatistics(clockRate: clockRate)
    /// About how many packets the last report speaks of that the one before did not.
    private(set) var packetsReportedOn: Int64 = 0
    private var reportedPacketCount: Int64 = 0
    var framesSent: UInt64 = 0
    private(set) var keyframesSent: UInt64 = 0
    private(set) var keyframeRequests: UInt64 = 0
    /// The RTP timestamp of the newest frame.
    var latestTimestamp: UInt32?
    /// What comes behind something else has a timestamp that is higher by this at least: a millisecond.
    static let leastTimestampStep: UInt32 = 90

    init(_ media: NegotiatedMedia, maximumPayloadSize: Int, using generator: inout some RandomNumberGenerator) {
        ssrc = media.localSSRC
        payloadType = media.payloadType
        orientationID = media.outboundExtensionIDs.videoOrientation
        packetizer = H264Packetizer(
            mode: PacketizationMode(rawValue: media.packetizationMode) ?? .singleNALUnit,
            maximumPayloadSize: maximumPayloadSize)
        timestampOffset = .random(in: 0 ... .max, using: &generator)
        // A first number in the lower half keeps the roll-over counter that SRTP guesses at zero (RFC 3711 3.3.1).
        sequenceNumber = .random(in: 0..<0x8000, using: &generator)
        guard media.feedback.nack else { return }
        if let ssrc = media.localRetransmissionSSRC, let payloadType = media.retransmissionPayloadType {
            retransmissions = RetransmissionStream(ssrc: ssrc, payloadType: payloadType, using: &generator)
        } else {
            repetitions = PacketHistory()
        }
    }

    /// Takes over what was negotiated, anew too: a browser offers forward error correction once its camera is off.
    mutating func update(_ media: NegotiatedMedia, using generator: inout some RandomNumberGenerator) {
        payloadType = media.payloadType
        if !media.feedback.rpsi { sentPictures = nil } else if sentPictures == nil { sentPictures = SentPictures() }
        orientationID = media.outboundExtensionIDs.videoOrientation
        packetizer.mode = PacketizationMode(rawValue: media.packetizationMode) ?? .singleNALUnit
        if let payloadType = media.retransmissionPayloadType { retransmissions?.payloadType = payloadType }
        guard let ssrc = media.localFlexFECSSRC, let payloadType = media.flexFECPayloadType else {
            flexFEC?.setProtection(.none)
            return
        }
        let extensions = MutableExtensions(media.outboundExtensionIDs)
        if flexFEC == nil {
            flexFEC = FlexFECEncoder(
                ssrc: ssrc, payloadType: payloadType, mutableExtensions: extensions, using: &generator)
        }
        flexFEC?.payloadType = payloadType
        flexFEC?.mutableExtensions = extensions
    }

    /// Sets how much forward error correction the stream is given, where it was negotiated.
    mutating func setProtection(_ protection: Protection) { flexFEC?.setProtection(protection) }

    /// What repairs a packet that leaves, and others before it, if that is to be sent now.
    mutating func protect(_ packet: RTPPacket, now: MonotonicInstant) -> [RTPPacket] {
        guard flexFEC?.isActive == true else { return [] }
        return flexFEC?.add(packet, bytes: packet.encode(), now: now) ?? []
    }

    /// What repairs the packets that have waited for others for too long.
    mutating func repairDue(now: MonotonicInstant) -> [RTPPacket] { flexFEC?.finishDue(now: now) ?? [] }

    /// The packets of `frame`, the parameter sets ahead of a keyframe, the marker on the last.
    ///
    /// - Parameters:
    ///   - payloads: The frame's, where they were made already. What another packetizer made does not suit this
    ///     receiver.
    ///   - rotation: How the picture is to be turned, which its last packet says where the receiver wants to know: in
    ///     keyframes, and where it is new (3GPP TS 26.114, 7.4.5).
    mutating func packetize(
        _ frame: EncodedFrame, payloads: FramePayloads?, rotation: VideoRotation, captureTime: MonotonicInstant
    ) -> [RTPPacket] {
        let made = payloads.flatMap { $0.packetizer == packetizer ? $0 : nil }
        guard let payloads = (made ?? FramePayloads(of: frame, by: packetizer))?.payloads else { return [] }
        if frame.isKeyframe { keyframesSent &+= 1 }
        framesSent &+= 1
        forwarding?.isOver = true
        let timestamp = encodedTimestamp(at: captureTime)
        latestTimestamp = timestamp
        sentPictures?.add(timestamp: timestamp, time: captureTime)
        let tellsRotation = frame.isKeyframe || rotation != lastRotation
        lastRotation = rotation
        return payloads.enumerated().map { index, payload in
            defer { sequenceNumber &+= 1 }
            let isLast = index == payloads.count - 1
            var packet = RTPPacket(
                payloadType: payloadType, marker: isLast, sequenceNumber: sequenceNumber,
                timestamp: timestamp, ssrc: ssrc, payload: payload)
            if isLast, tellsRotation, let orientationID {
                packet.extensions.setVideoRotation(rotation, id: orientationID)
            }
            return packet
        }
    }

    /// An empty packet of padding, for probing: it carries the newest frame's timestamp and no payload. In the stream
    /// of retransmissions where there is one, so that the media's numbers have no holes.
    mutating func makePadding() -> RTPPacket? {
        guard let latestTimestamp else { return nil }
        if let packet = retransmissions?.makePadding(timestamp: latestTimestamp) { return packet }
        forwarding?.takeNumber()
        defer { sequenceNumber &+= 1 }
        return .padding(
            payloadType: payloadType, ssrc: ssrc, sequenceNumber: sequenceNumber, timestamp: latestTimestamp)
    }

    /// The RTP timestamp (90 kHz) of a frame: above that of what was forwarded before.
    private mutating func encodedTimestamp(at captureTime: MonotonicInstant) -> UInt32 {
        let timestamp = rtpTimestamp(at: captureTime)
        guard forwarding != nil, let latestTimestamp, Int32(bitPattern: timestamp &- latestTimestamp) <= 0 else {
            return timestamp
        }
        timestampShift &+= latestTimestamp &+ Self.leastTimestampStep &- timestamp
        return latestTimestamp &+ Self.leastTimestampStep
    }

    /// The RTP timestamp (90 kHz) of an instant.
    func rtpTimestamp(at instant: MonotonicInstant) -> UInt32 {
        timestampOffset &+ timestampShift
            &+ UInt32(
                truncatingIfNeeded: MediaTime(instant).converted(toTimescale: 90_000).value)
    }

    /// Counts a packet of the stream that leaves, and keeps what is needed to send it again. Timestamps run with a
    /// clock, so that this instant stands for the packet's.
    mutating func sent(_ packet: RTPPacket, datagram: ByteBuffer, now: MonotonicInstant) {
        let payloadSize = DataSize(bytes: packet.payload.readableBytes)
        let timestamp =
            isForwarding ? forwarding?.clock.timestamp(at: now) ?? packet.timestamp : rtpTimestamp(at: now)
        statistics.packetSent(timestamp: timestamp, payloadSize: payloadSize, captureTime: now)
        repetitions?.store(datagram, sequenceNumber: packet.sequenceNumber, now: now)
        retransmissions?.store(packet, now: now)
    }

    /// Takes in what the receiver reports.
    mutating func reportReceived(_ block: ReportBlock, ntpNow: NTPTime) {
        statistics.reportReceived(block, ntpNow: ntpNow)
        packetsReportedOn = statistics.packetCount - reportedPacketCount
        reportedPacketCount = statistics.packetCount
    }

    /// What goes out again for a packet that the receiver misses.
    enum Repair {
        /// A packet of the stream of retransmissions.
        case retransmission(RTPPacket)
        /// The very bytes that went out.
        case repetition(ByteBuffer)
    }

    /// What to send for a packet that the receiver asks for; nil when it is unknown, too old, or on its way again.
    mutating func repair(_ sequenceNumber: UInt16, roundTripTime: Duration, now: MonotonicInstant) -> Repair? {
        if let packet = retransmissions?.packet(sequenceNumber, roundTripTime: roundTripTime, now: now) {
            return .retransmission(packet)
        }
        return repetitions?.packet(sequenceNumber, roundTripTime: roundTripTime, now: now).map { .repetition($0) }
    }

    /// Whether a picture loss indication asks for something new.
    mutating func pictureLossIndicated(now: MonotonicInstant) -> Bool {
        if let lastKeyframeRequest, now - lastKeyframeRequest < Self.keyframeRequestWindow { return false }
        lastKeyframeRequest = now
        keyframeRequests &+= 1
        return true
    }

    /// Whether a full intra request asks for something new; repeats carry the same number (RFC 5104 4.3.1.2).
    mutating func fullIntraRequested(commandSequence: UInt8, now: MonotonicInstant) -> Bool {
        guard commandSequence != lastFullIntraRequest, pictureLossIndicated(now: now) else { return false }
        lastFullIntraRequest = commandSequence
        return true
    }
}

extension RTPPacket {
    /// A packet of as much padding as there can be, and nothing else.
    static func padding(payloadType: UInt8, ssrc: UInt32, sequenceNumber: UInt16, timestamp: UInt32) -> RTPPacket {
        RTPPacket(
            payloadType: payloadType, sequenceNumber: sequenceNumber, timestamp: timestamp, ssrc: ssrc,
            payload: ByteBuffer(), paddingLength: .max)
    }
}

extension MutableExtensions {
    init(_ ids: HeaderExtensionIDs) {
        self.init(transportSequenceNumber: ids.transportSequenceNumber, absoluteSendTime: ids.absoluteSendTime)
    }
}
