import MediaCore
import RTP

/// Makes RTCP of every kind that a controller learns from, with the values that arithmetic fails on: the ends of every
/// field, clocks that jump, stand still or run backwards, and packets that were never sent.
struct HostileFeedback {
    var random: SeededGenerator
    /// The stream that the packets speak of, and whom they claim to come from.
    var sentSSRC: UInt32
    var ownSSRC: UInt32
    private var isReferenceHigh = false

    init(seed: UInt64, sentSSRC: UInt32, ownSSRC: UInt32) {
        random = SeededGenerator(seed: seed)
        self.sentSSRC = sentSSRC
        self.ownSSRC = ownSSRC
    }

    /// The packets of the next datagram. `newest` is the sequence number of a packet that did arrive.
    mutating func next(near newest: UInt16) -> [RTCPPacket] {
        switch Int.random(in: 0..<9, using: &random) {
        case 0: [.transportFeedback(emptyFeedback())]
        case 1:
            [
                .transportFeedback(
                    feedback(near: newest, referenceTime: .random(in: -0x80_0000...0x7F_FFFF, using: &random)))
            ]
        case 2: [.transportFeedback(feedback(near: newest, referenceTime: 0))]
        case 3: [.congestionControlFeedback(report(near: newest))]
        case 4: (0..<Int.random(in: 1...20, using: &random)).map { _ in .receiverEstimatedMaximumBitrate(estimate()) }
        case 5: [.receiverReport(ReceiverReport(ssrc: ownSSRC, reports: blocks()))]
        case 6:
            [
                .senderReport(
                    SenderReport(
                        ssrc: ownSSRC, ntpTime: NTPTime(rawValue: integer()), rtpTimestamp: integer(),
                        packetCount: integer(), octetCount: integer(), reports: blocks()))
            ]
        case 7: [.genericNACK(nack(near: newest)), .pictureLossIndication(indication())]
        default:
            [.maximumBitRateRequest(BitRateLimits(senderSSRC: ownSSRC, limits: [limit()]))]
        }
    }

    /// The smallest feedback there is: no packet, and a clock that jumps half of its circle each time.
    mutating func emptyFeedback() -> TransportFeedback {
        isReferenceHigh.toggle()
        return TransportFeedback(
            senderSSRC: ownSSRC, mediaSSRC: sentSSRC, baseSequence: 0, referenceTime: isReferenceHigh ? -0x80_0000 : 0,
            feedbackCount: 0, packets: [])
    }

    private mutating func feedback(near newest: UInt16, referenceTime: Int32) -> TransportFeedback {
        let base = newest &+ UInt16(bitPattern: .random(in: -100...20, using: &random))
        let kind = Int.random(in: 0..<4, using: &random)
        let packets = (0..<UInt16.random(in: 0...200, using: &random)).map { index in
            let delta: Duration? =
                switch kind {
                case 0: PacketStatus.deltaUnit * Int(Int16.min)
                case 1: PacketStatus.deltaUnit * Int(Int16.max)
                case 2: PacketStatus.deltaUnit * Int.random(in: -0x8000...0x7FFF, using: &random)
                default: nil
                }
            return PacketStatus(sequence: base &+ index, receiveDelta: delta)
        }
        return TransportFeedback(
            senderSSRC: ownSSRC, mediaSSRC: sentSSRC, baseSequence: base, referenceTime: referenceTime,
            feedbackCount: integer(), packets: packets)
    }

    private mutating func report(near newest: UInt16) -> CongestionControlFeedback {
        let packets = (0..<Int.random(in: 0...200, using: &random)).map { _ in
            Bool.random(using: &random)
                ? CongestionControlFeedback.PacketArrival(
                    ecn: .congestionExperienced, arrivalTimeOffset: integer()) : nil
        }
        return CongestionControlFeedback(
            senderSSRC: ownSSRC,
            streams: [.init(ssrc: sentSSRC, beginSequence: newest &- UInt16(packets.count), packets: packets)],
            reportTimestamp: integer())
    }

    private mutating func blocks() -> [ReportBlock] {
        (0..<Int.random(in: 0...31, using: &random)).map { _ in
            ReportBlock(
                ssrc: sentSSRC, fractionLost: integer(), cumulativeLost: integer(), highestSequence: integer(),
                jitter: integer(), lastSenderReport: integer(), delaySinceLastSenderReport: integer())
        }
    }

    private mutating func estimate() -> REMB {
        REMB(senderSSRC: ownSSRC, bitRate: rate(), ssrcs: [sentSSRC])
    }

    private mutating func limit() -> BitRateLimit {
        BitRateLimit(ssrc: sentSSRC, maximum: rate(), overhead: DataSize(bytes: .random(in: 0...511, using: &random)))
    }

    /// Any rate, the least and the highest more often than others.
    private mutating func rate() -> BitRate {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: .zero
        case 1: BitRate(bitsPerSecond: Int64(1))
        case 2: BitRate(bitsPerSecond: Int64.max)
        default: BitRate(bitsPerSecond: Int64.random(in: 0...(.max), using: &random))
        }
    }

    private mutating func nack(near newest: UInt16) -> GenericNACK {
        GenericNACK(
            senderSSRC: ownSSRC, mediaSSRC: sentSSRC,
            sequenceNumbers: (0..<Int.random(in: 0...200, using: &random)).map { _ in integer() })
    }

    private mutating func indication() -> PictureLossIndication {
        PictureLossIndication(senderSSRC: ownSSRC, mediaSSRC: sentSSRC)
    }

    private mutating func integer<Integer: FixedWidthInteger>() -> Integer {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: .min
        case 1: .max
        default: .random(in: .min ... .max, using: &random)
        }
    }
}
