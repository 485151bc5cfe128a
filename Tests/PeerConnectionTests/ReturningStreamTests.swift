import MediaCore
import NIOCore
import RTP
import SDP
import Testing

@testable import PeerConnection

/// Streams that one offer leaves out and a further one takes up again.
@Suite struct ReturningStreamTests {
    private let now = MonotonicInstant(nanoseconds: 1_000_000_000)

    private func media(
        _ kind: NegotiatedMedia.Kind, ssrc: UInt32, retransmissions: UInt32? = nil, flexFEC: UInt32? = nil
    ) -> NegotiatedMedia {
        NegotiatedMedia(
            kind: kind, index: 0, mid: "a", payloadType: 96, retransmissionPayloadType: retransmissions.map { _ in 97 },
            flexFECPayloadType: flexFEC.map { _ in 98 }, direction: .sendAndReceive, keys: nil,
            feedback: .video, localSSRC: ssrc, localRetransmissionSSRC: retransmissions, localFlexFECSSRC: flexFEC)
    }

    private func makePacket(_ sequenceNumber: UInt16, marker: Bool = false) -> RTPPacket {
        RTPPacket(
            payloadType: 96, marker: marker, sequenceNumber: sequenceNumber, timestamp: 0, ssrc: 1,
            payload: ByteBuffer(bytes: [0x09, 0xF0]))
    }

    @Test(
        "a line that was disabled sends from the source that the new answer names",
        arguments: [NegotiatedMedia.Kind.video, .audio])
    func disabledLine(kind: NegotiatedMedia.Kind) {
        var generator = SeededGenerator(seed: 5)
        let line = MediaLine(media(kind, ssrc: 1))
        line.setUpStreams(using: &generator)
        #expect((line.videoSender?.ssrc ?? line.audioSender?.ssrc) == 1)
        line.disable(using: &generator)
        line.update(media(kind, ssrc: 2), using: &generator)
        #expect((line.videoSender?.ssrc ?? line.audioSender?.ssrc) == 2)
    }

    @Test("repair comes from the sources that the new answer names")
    func repair() throws {
        var generator = SeededGenerator(seed: 6)
        let line = MediaLine(media(.video, ssrc: 1, retransmissions: 2, flexFEC: 3))
        line.setUpStreams(using: &generator)
        let sender = try #require(line.videoSender)
        #expect(sender.flexFEC?.ssrc == 3)
        line.update(media(.video, ssrc: 1), using: &generator)
        line.update(media(.video, ssrc: 1, retransmissions: 4, flexFEC: 5), using: &generator)
        #expect(line.videoSender === sender)
        #expect(sender.flexFEC?.ssrc == 5)
        let packet = makePacket(9)
        sender.sent(packet, datagram: packet.encode(), now: now)
        var source: UInt32?
        if case .retransmission(let again) = sender.resend(9, roundTripTime: .milliseconds(50), now: now) {
            source = again.ssrc
        }
        #expect(source == 4)
    }

    @Test("without a stream of retransmissions any more, the very bytes of a packet are sent again")
    func retransmissionsEnd() throws {
        var generator = SeededGenerator(seed: 7)
        let line = MediaLine(media(.video, ssrc: 1, retransmissions: 2))
        line.setUpStreams(using: &generator)
        line.update(media(.video, ssrc: 1), using: &generator)
        let sender = try #require(line.videoSender)
        let packet = makePacket(9)
        sender.sent(packet, datagram: packet.encode(), now: now)
        var again: ByteBuffer?
        if case .repetition(let datagram) = sender.resend(9, roundTripTime: .milliseconds(50), now: now) {
            again = datagram
        }
        #expect(again == packet.encode())
    }

    @Test("without forward error correction in the new answer, none is made, whatever protection is decided")
    func protectionEnds() throws {
        var generator = SeededGenerator(seed: 8)
        let line = MediaLine(media(.video, ssrc: 1, flexFEC: 3))
        line.setUpStreams(using: &generator)
        let sender = try #require(line.videoSender)
        let protection = Protection(rate: 1, burst: 1, delay: .zero)
        let packet = makePacket(9, marker: true)
        sender.setProtection(protection)
        #expect(sender.protect(packet, now: now).count == 1)
        line.update(media(.video, ssrc: 1), using: &generator)
        sender.setProtection(protection)
        #expect(sender.flexFEC?.isActive != true)
        #expect(sender.protect(packet, now: now).isEmpty)
    }

    @Test(
        "a disabled line's losses take no rate; those without NACK take none for retransmissions",
        arguments: [false, true])
    func lossesEnd(hasNACK: Bool) throws {
        var generator = SeededGenerator(seed: 9)
        var first = media(.video, ssrc: 1, flexFEC: 3)
        first.feedback.nack = hasNACK
        let line = MediaLine(first)
        line.setUpStreams(using: &generator)
        let lines = MediaLines(MediaLines(), and: line)
        let sender = try #require(line.videoSender)
        for number in 0..<40 as Range<UInt16> {
            let packet = makePacket(number)
            sender.sent(packet, datagram: packet.encode(), now: now)
        }
        sender.reportReceived(ReportBlock(ssrc: 1, fractionLost: 64), ntpNow: NTPTime(rawValue: 1 << 32))
        var repair = Repair()
        repair.record(reportOn: sender, isCongested: false, now: now)
        repair.update(lines, hasFeedback: false, now: now)
        #expect(lines.videoFractionLost == 0.25)
        #expect(lines.retransmittedVideoFractionLost == (hasNACK ? 0.25 : 0))
        if !hasNACK { #expect(repair.overhead(of: lines) > 0) }

        line.disable(using: &generator)
        #expect(lines.videoFractionLost == 0)
        #expect(repair.overhead(of: lines) == 0)
    }
}
