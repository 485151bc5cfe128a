import MediaCore
import NIOCore

@testable import RTP

extension RTCPPacket {
    /// Any packet that reads back as it was written.
    static func random(using generator: inout SeededGenerator) -> RTCPPacket {
        let (sender, media): (UInt32, UInt32) = (generator.integer(), generator.integer())
        let count = Int.random(in: 0...5, using: &generator)
        switch Int.random(in: 0..<14, using: &generator) {
        case 0:
            return .senderReport(
                SenderReport(
                    ssrc: sender, ntpTime: NTPTime(rawValue: generator.integer()), rtpTimestamp: generator.integer(),
                    packetCount: generator.integer(), octetCount: generator.integer(),
                    reports: (0..<count).map { _ in .random(using: &generator) }))
        case 1:
            return .receiverReport(
                ReceiverReport(ssrc: sender, reports: (0..<count).map { _ in .random(using: &generator) }))
        case 2:
            return .sourceDescription(
                SourceDescription(
                    chunks: (0..<count).map { _ in
                        .init(ssrc: generator.integer(), cname: String(generator.next(), radix: 36))
                    }))
        case 3:
            return .bye(
                Goodbye(
                    ssrcs: (0..<count).map { _ in generator.integer() },
                    reason: Bool.random(using: &generator) ? String(generator.next(), radix: 36) : nil))
        case 4:
            var sequenceNumber: UInt16 = generator.integer()
            return .genericNACK(
                GenericNACK(
                    senderSSRC: sender, mediaSSRC: media,
                    sequenceNumbers: (0..<(count * 10)).map { _ in
                        sequenceNumber &+= .random(in: 1...20, using: &generator)
                        return sequenceNumber
                    }))
        case 5: return .pictureLossIndication(PictureLossIndication(senderSSRC: sender, mediaSSRC: media))
        case 6:
            return .fullIntraRequest(
                FullIntraRequest(
                    senderSSRC: sender,
                    entries: (0..<count).map { _ in
                        .init(ssrc: generator.integer(), commandSequence: generator.integer())
                    }))
        case 7:
            let mantissa = Int64.random(in: 0...0x3FFFF, using: &generator)
            return .receiverEstimatedMaximumBitrate(
                REMB(
                    senderSSRC: sender,
                    bitRate: BitRate(bitsPerSecond: mantissa << Int64.random(in: 0...45, using: &generator)),
                    ssrcs: (0..<count).map { _ in generator.integer() }))
        case 8: return .transportFeedback(.random(using: &generator))
        case 9:
            return .congestionControlFeedback(
                CongestionControlFeedback(
                    senderSSRC: sender,
                    streams: (0..<count).map { _ in .random(using: &generator) }, reportTimestamp: media))
        case 10:
            return .maximumBitRateRequest(
                BitRateLimits(senderSSRC: sender, limits: (0..<count).map { _ in .random(using: &generator) }))
        case 11:
            return .maximumBitRateNotification(
                BitRateLimits(senderSSRC: sender, limits: (0..<count).map { _ in .random(using: &generator) }))
        case 12:
            return .referencePictureSelection(
                ReferencePictureSelectionIndication(
                    senderSSRC: sender, mediaSSRC: media, payloadType: generator.integer() & 0x7F,
                    timestamp: generator.integer()))
        default:
            return .other(
                OtherRTCPPacket(packetType: 207, countOrFormat: 3, body: generator.bytes(count * 4)))
        }
    }
}

extension ReportBlock {
    static func random(using generator: inout SeededGenerator) -> ReportBlock {
        ReportBlock(
            ssrc: generator.integer(), fractionLost: generator.integer(),
            cumulativeLost: .random(in: cumulativeLostRange, using: &generator),
            highestSequence: generator.integer(), jitter: generator.integer(),
            lastSenderReport: generator.integer(), delaySinceLastSenderReport: generator.integer())
    }
}

extension BitRateLimit {
    static func random(using generator: inout SeededGenerator) -> BitRateLimit {
        let mantissa = Int64.random(in: 0...0x1FFFF, using: &generator)
        return BitRateLimit(
            ssrc: generator.integer(),
            maximum: BitRate(bitsPerSecond: mantissa << Int64.random(in: 0...46, using: &generator)),
            overhead: DataSize(bytes: .random(in: 0...0x1FF, using: &generator)))
    }
}

extension TransportFeedback {
    /// Feedback on 0 to 300 packets, with runs, single losses, small, large and negative deltas.
    static func random(using generator: inout SeededGenerator) -> TransportFeedback {
        var feedback = TransportFeedback(
            senderSSRC: generator.integer(), mediaSSRC: generator.integer(), baseSequence: generator.integer(),
            referenceTime: .random(in: -0x80_0000...0x7F_FFFF, using: &generator),
            feedbackCount: generator.integer(), packets: [])
        var sequence = feedback.baseSequence
        for _ in 0..<Int.random(in: 0...12, using: &generator) {
            let kind = Int.random(in: 0..<4, using: &generator)
            for _ in 0..<Int.random(in: 1...25, using: &generator) {
                let units: Int? =
                    switch kind {
                    case 0: nil
                    case 1: .random(in: 0...255, using: &generator)
                    case 2: .random(in: -32768...32767, using: &generator)
                    default: Bool.random(using: &generator) ? nil : .random(in: 0...300, using: &generator)
                    }
                if feedback.packets.last?.isReceived == false { feedback.packets.removeLast() }
                feedback.packets.append(
                    PacketStatus(sequence: sequence, receiveDelta: units.map { PacketStatus.deltaUnit * $0 }))
                sequence &+= 1
            }
        }
        return feedback
    }
}

extension CongestionControlFeedback.Stream {
    static func random(using generator: inout SeededGenerator) -> CongestionControlFeedback.Stream {
        CongestionControlFeedback.Stream(
            ssrc: generator.integer(), beginSequence: generator.integer(),
            packets: (0..<Int.random(in: 0...20, using: &generator)).map { _ in
                guard Bool.random(using: &generator) else { return nil }
                return CongestionControlFeedback.PacketArrival(
                    ecn: .init(rawValue: .random(in: 0...3, using: &generator)) ?? .notCapable,
                    arrivalTimeOffset: .random(in: 0...0x1FFF, using: &generator))
            })
    }
}
