import H264
import MediaCore
import NIOCore
import RTP
import SDP
import VideoCoding

/// One outgoing H.264 stream: parameter sets, packetization, numbering, and stored packets for retransmission.
///
/// An encoder's frames and another sender's forwarded packets alternate in one stream: numbers and timestamps continue.
///
/// It is a class, although only one line holds it: as a value it is so large that each read would copy a dozen
/// references.
final class VideoSendStream {
    /// A packet that is older and waits for its turn to be sent again is worse than a keyframe.
    private static let longestWait = Duration.milliseconds(500)
    /// Numbers may have come round after this.
    private static let answerMemory = Duration.seconds(10)
    /// Ticks of timestamps a second (RFC 6184 8.1).
    static let clockRate: Int32 = 90_000

    let ssrc: UInt32
    private(set) var payloadType: UInt8
    private(set) var packetizer: H264Packetizer
    private let timestampOffset: UInt32
    /// The lead of timestamps over the clock, which forwarded packets may have caused.
    private var timestampShift: UInt32 = 0
    /// The number of the next packet.
    private var sequenceNumber: UInt16
    private var requests = ReceivedKeyframeRequests()
    /// The number of the next packet when a loss was last answered: nothing before it is missed any more.
    private var answeredNumber: UInt16?
    private var orientationID: UInt8?
    private var lastRotation: VideoRotation?
    /// The present or last forwarding of another sender's packets: missing ones may still come.
    private(set) var forwarding: ForwardingStream?
    /// The packets sent last, as they went out: they are repeated byte by byte. A second ciphertext under one packet
    /// index would break SRTP's keys.
    private var repetitions: PacketHistory<ByteBuffer>?
    private var retransmissions: RetransmissionStream?
    /// Forward error correction, if it was negotiated.
    private(set) var flexFEC: FlexFECEncoder? {
        didSet { repairDeadline = flexFEC?.nextDeadline }
    }
    /// The time at which `repairDue` has packets; nil while none wait. It is stored, because a connection that looks at
    /// it in the encoder copies the encoder.
    private(set) var repairDeadline: MonotonicInstant?
    /// Pictures that the receiver may acknowledge; nil if that was not negotiated.
    private(set) var sentPictures: SentPictures?

    private(set) var statistics = SendStatistics(clockRate: clockRate)
    /// About how many packets the last report speaks of that the one before did not.
    private(set) var packetsReportedOn: Int64 = 0
    private var reportedPacketCount: Int64 = 0
    private(set) var keyframeRequests: UInt64 = 0
    /// The stream's counters so far.
    var totals: VideoTotals { VideoTotals(keyframeRequestsReceived: keyframeRequests) }
    /// The RTP timestamp of the newest frame.
    private(set) var latestTimestamp: UInt32?
    /// The least step of timestamps between an encoder's and forwarded frames: a millisecond.
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
    }

    /// Applies a negotiation or renegotiation: a browser offers forward error correction once its camera is off.
    func update(_ media: NegotiatedMedia, using generator: inout some RandomNumberGenerator) {
        payloadType = media.payloadType
        if !media.feedback.rpsi { sentPictures = nil } else if sentPictures == nil { sentPictures = SentPictures() }
        orientationID = media.outboundExtensionIDs.videoOrientation
        packetizer.mode = PacketizationMode(rawValue: media.packetizationMode) ?? .singleNALUnit
        updateRetransmission(media, using: &generator)
        guard let ssrc = media.localFlexFECSSRC, let payloadType = media.flexFECPayloadType else {
            // A later decision for all streams must not begin error correction again: its packets could not leave, and
            // yet would take a share of the rate.
            flexFEC = nil
            return
        }
        let extensions = MutableExtensions(media.outboundExtensionIDs)
        if flexFEC?.ssrc != ssrc {
            flexFEC = FlexFECEncoder(
                ssrc: ssrc, payloadType: payloadType, mutableExtensions: extensions, using: &generator)
        }
        flexFEC?.payloadType = payloadType
        flexFEC?.mutableExtensions = extensions
    }

    /// Stores packets in the form in which this receiver takes them again. Retransmissions that an offer left out come
    /// back with a new source.
    private func updateRetransmission(_ media: NegotiatedMedia, using generator: inout some RandomNumberGenerator) {
        guard media.feedback.nack else {
            (retransmissions, repetitions) = (nil, nil)
            return
        }
        guard let ssrc = media.localRetransmissionSSRC, let payloadType = media.retransmissionPayloadType else {
            retransmissions = nil
            repetitions = repetitions ?? PacketHistory()
            return
        }
        repetitions = nil
        if retransmissions?.ssrc != ssrc {
            retransmissions = RetransmissionStream(ssrc: ssrc, payloadType: payloadType, using: &generator)
        }
        retransmissions?.payloadType = payloadType
    }

    /// Sets the amount of forward error correction, if it was negotiated.
    func setProtection(_ protection: Protection) { flexFEC?.setProtection(protection) }

    /// Forward error correction that is complete with a packet that leaves.
    func protect(_ packet: RTPPacket, now: MonotonicInstant) -> [RTPPacket] {
        guard flexFEC?.isActive == true else { return [] }
        return flexFEC?.add(packet, bytes: packet.encode(), now: now) ?? []
    }

    /// Forward error correction of packets that have waited for others for too long.
    func repairDue(now: MonotonicInstant) -> [RTPPacket] { flexFEC?.finishDue(now: now) ?? [] }

    /// Returns the packets of `frame`, with the parameter sets before a keyframe and the marker on the last packet.
    ///
    /// - Parameters:
    ///   - payloads: The frame's payloads, if they were made already. Those of another packetizer do not suit this
    ///     receiver.
    ///   - rotation: The rotation of the picture. Its last packet states it if the receiver supports this: in
    ///     keyframes, and when it changes (3GPP TS 26.114, 7.4.5).
    func packetize(
        _ frame: EncodedFrame, payloads: FramePayloads?, rotation: VideoRotation, captureTime: MonotonicInstant
    ) -> [RTPPacket] {
        let made = payloads.flatMap { $0.packetizer == packetizer ? $0 : nil }
        guard let payloads = (made ?? FramePayloads(of: frame, by: packetizer))?.payloads else { return [] }
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

    /// Returns an empty packet of padding, for probing: it has the newest frame's timestamp and no payload. It belongs
    /// to the stream of retransmissions if there is one, so that the media's numbers have no gaps.
    func makePadding() -> RTPPacket? {
        guard let latestTimestamp else { return nil }
        if let packet = retransmissions?.makePadding(timestamp: latestTimestamp) { return packet }
        forwarding?.takeNumber()
        defer { sequenceNumber &+= 1 }
        return .padding(
            payloadType: payloadType, ssrc: ssrc, sequenceNumber: sequenceNumber, timestamp: latestTimestamp)
    }

    /// Returns the RTP timestamp (90 kHz) of a frame, which is above those of forwarded packets.
    private func encodedTimestamp(at captureTime: MonotonicInstant) -> UInt32 {
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

    /// Counts a packet of the stream that leaves, and stores it for retransmission. Timestamps follow a clock, so this
    /// instant belongs to the packet's timestamp.
    func sent(_ packet: RTPPacket, datagram: ByteBuffer, now: MonotonicInstant) {
        let payloadSize = DataSize(bytes: packet.payload.readableBytes)
        let timestamp =
            isForwarding ? forwarding?.clock.timestamp(at: now) ?? packet.timestamp : rtpTimestamp(at: now)
        statistics.packetSent(timestamp: timestamp, payloadSize: payloadSize, captureTime: now)
        repetitions?.store(datagram, sequenceNumber: packet.sequenceNumber, now: now)
        retransmissions?.store(packet, now: now)
    }

    /// The same of a packet that is forwarded.
    func sent(_ numbered: NumberedPacket, datagram: ByteBuffer, now: MonotonicInstant) {
        sent(numbered.packet, datagram: datagram, now: now)
        forwarding?.sent(number: numbered.number, endsFrame: numbered.packet.marker)
    }

    /// Takes a report of the receiver.
    func reportReceived(_ block: ReportBlock, ntpNow: NTPTime) {
        statistics.reportReceived(block, ntpNow: ntpNow)
        packetsReportedOn = statistics.packetCount - reportedPacketCount
        reportedPacketCount = statistics.packetCount
    }

    /// The answer to a request for a missing packet.
    enum Resent {
        case retransmission(RTPPacket)
        /// The very bytes that went out.
        case repetition(ByteBuffer)
    }

    /// The answer to a request for a packet; nil when it is unknown, too old, or on its way again.
    func resend(_ sequenceNumber: UInt16, roundTripTime: Duration, now: MonotonicInstant) -> Resent? {
        if let packet = retransmissions?.packet(sequenceNumber, roundTripTime: roundTripTime, now: now) {
            return .retransmission(packet)
        }
        return repetitions?.packet(sequenceNumber, roundTripTime: roundTripTime, now: now).map { .repetition($0) }
    }

    /// Returns true if a picture loss indication is a new request.
    func pictureLossIndicated(now: MonotonicInstant) -> Bool {
        guard pictureWasLost(now: now) else { return false }
        keyframeRequests &+= 1
        return true
    }

    private func pictureWasLost(now: MonotonicInstant) -> Bool {
        guard requests.takePictureLoss(isForKeyframe: sentPictures == nil, now: now) else { return false }
        answeredNumber = sequenceNumber
        return true
    }

    /// Returns true if a request for packets shows a new loss of a picture: the first of them is kept no more, or is
    /// old and waits for its turn. libwebrtc asks for a keyframe only after a picture has been still for three seconds.
    ///
    /// - Parameter isDelayed: True if packets that are kept are not sent again now.
    func pictureWasLost(with requested: [UInt16], isDelayed: Bool, now: MonotonicInstant) -> Bool {
        guard let first = requested.first(where: { wasSent($0) && !isAnswered($0, now: now) }) else { return false }
        let isGone = retransmissions?.history.isGone(first, now: now) ?? repetitions?.isGone(first, now: now) ?? false
        let age = retransmissions?.history.age(of: first, now: now) ?? repetitions?.age(of: first, now: now)
        guard isGone || (isDelayed && age.map { $0 >= Self.longestWait } ?? false) else { return false }
        return pictureWasLost(now: now)
    }

    private func wasSent(_ requested: UInt16) -> Bool {
        let distance = sequenceNumber &- requested
        return (1..<0x8000).contains(distance) && Int64(distance) <= statistics.packetCount
    }

    private func isAnswered(_ requested: UInt16, now: MonotonicInstant) -> Bool {
        guard let answeredNumber, let last = requests.last, now - last < Self.answerMemory else { return false }
        return Int16(bitPattern: requested &- answeredNumber) < 0
    }

    /// Returns true if a full intra request is new.
    func fullIntraRequested(commandSequence: UInt8, now: MonotonicInstant) -> Bool {
        guard requests.takeFullIntra(commandSequence: commandSequence, now: now) else { return false }
        answeredNumber = sequenceNumber
        keyframeRequests &+= 1
        return true
    }

    // MARK: Another sender's packets

    /// Begins forwarding with this packet. If its frame has no parameter sets, they are sent before it.
    ///
    /// - Returns: The packets to send before it.
    func beginForwarding(at first: ForwardedPacket, parameterSets: [ByteBuffer]) -> [NumberedPacket] {
        var timestamp = rtpTimestamp(at: first.arrival)
        if let latestTimestamp, Int32(bitPattern: timestamp &- latestTimestamp) <= 0 {
            timestamp = latestTimestamp &+ Self.leastTimestampStep
        }
        timestampShift = 0
        forwarding = ForwardingStream(first: first, as: Int64(sequenceNumber), timestamp: timestamp)
        return insert(parameterSets: parameterSets, timestamp: timestamp)
    }

    /// Returns the packets that a source's packet becomes: none if it is dropped, several if parameter sets come before
    /// it.
    func forward(
        _ packet: ForwardedPacket, parameterSets: [ByteBuffer], leavesOutDispensable: Bool
    ) -> [NumberedPacket] {
        var packets: [NumberedPacket] = []
        if packet.startsFrame, !parameterSets.isEmpty, let stream = forwarding {
            packets = insert(
                parameterSets: parameterSets,
                timestamp: packet.packet.timestamp &+ stream.timestampOffset)
        }
        guard let place = forwarding?.place(packet, leavesOutDispensable: leavesOutDispensable) else { return packets }
        var rewritten = RTPPacket(
            payloadType: payloadType, marker: packet.packet.marker && !place.isFiller,
            sequenceNumber: UInt16(truncatingIfNeeded: place.number), timestamp: place.timestamp, ssrc: ssrc,
            payload: place.isFiller ? ByteBuffer() : packet.packet.payload)
        if !place.isFiller, let rotation = packet.rotation {
            lastRotation = rotation
            if let orientationID { rewritten.extensions.setVideoRotation(rotation, id: orientationID) }
        }
        recordForwarded()
        packets.append(NumberedPacket(packet: rewritten, number: place.number))
        return packets
    }

    /// Ends forwarding. Packets from `number` on have not left and will not.
    func endForwarding(at number: Int64) {
        guard let stream = forwarding, !stream.isOver else { return }
        forwarding?.numbering.close(at: max(number, stream.leastEnd))
        recordForwarded()
    }

    /// Records that the source's stream restarted at a packet.
    func restartForwarding(at packet: ForwardedPacket) {
        guard isForwarding else { return }
        forwarding?.restart(at: packet)
        recordForwarded()
    }

    /// True if packets are forwarded, and no frame of an encoder has come since.
    var isForwarding: Bool { forwarding.map { $0.numbering.end == nil && !$0.isOver } ?? false }

    /// Records forwarded packets, so that later packets continue their numbers and timestamps.
    private func recordForwarded() {
        guard let number = forwarding?.numbering.next, forwarding?.isOver == false else { return }
        sequenceNumber = UInt16(truncatingIfNeeded: number)
        latestTimestamp = forwarding?.latestTimestamp
    }

    private func insert(parameterSets: [ByteBuffer], timestamp: UInt32) -> [NumberedPacket] {
        let payloads = packetizer.packetize(parameterSets.compactMap { NALUnit($0) })
        guard !payloads.isEmpty, let first = forwarding?.numbering.insert(payloads.count) else { return [] }
        recordForwarded()
        return payloads.enumerated().map { index, payload in
            let number = first + Int64(index)
            return NumberedPacket(
                packet: RTPPacket(
                    payloadType: payloadType, sequenceNumber: UInt16(truncatingIfNeeded: number), timestamp: timestamp,
                    ssrc: ssrc, payload: payload), number: number)
        }
    }
}

/// A packet of a stream, with its unwrapped number.
struct NumberedPacket: Sendable {
    var packet: RTPPacket
    var number: Int64
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

/// The capture times of the last sent pictures, by their RTP timestamps. The number is fixed.
struct SentPictures {
    private static let capacity = 256

    private var pictures: [(timestamp: UInt32, time: MonotonicInstant)] = []
    private var next = 0

    init() { pictures.reserveCapacity(Self.capacity) }

    mutating func add(timestamp: UInt32, time: MonotonicInstant) {
        if pictures.count < Self.capacity {
            pictures.append((timestamp, time))
        } else {
            pictures[next] = (timestamp, time)
        }
        next = (next + 1) % Self.capacity
    }

    func time(of timestamp: UInt32) -> MonotonicInstant? { pictures.first { $0.timestamp == timestamp }?.time }
}
