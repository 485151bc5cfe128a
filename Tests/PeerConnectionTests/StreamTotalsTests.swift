import MediaCore
import NIOCore
import RTP
import SDP
import SecureTransport
import Testing

@testable import PeerConnection

@Suite("Totals of a media line")
struct StreamTotalsTests {
    private let now = MonotonicInstant(nanoseconds: 1_000_000_000)

    private func media(
        _ kind: NegotiatedMedia.Kind, mid: String, direction: MediaDirection = .sendAndReceive
    ) -> NegotiatedMedia {
        NegotiatedMedia(
            kind: kind, index: 0, mid: mid, payloadType: 96, direction: direction, keys: nil,
            localSSRC: 1)
    }

    private func receive(_ sequence: UInt16, ssrc: UInt32, on line: MediaLine) {
        let packet = RTPPacket(
            payloadType: 96, sequenceNumber: sequence, timestamp: 0, ssrc: ssrc, payload: ByteBuffer(bytes: [9, 0xF0]))
        let size = DataSize(bytes: 14)
        line.videoReceiver?.insert(packet, datagram: packet.encode(), size: size, now: now) { _ in }
        line.audioReceiver?.insert(packet, level: nil, size: size, now: now) { _ in }
    }

    @Test("what was received and requested stays counted when the line is given to another stream, and back")
    func reuse() {
        var generator = SeededGenerator(seed: 5)
        let line = MediaLine(media(.video, mid: "a"))
        line.setUpStreams(using: &generator)
        for sequence in 1...3 as ClosedRange<UInt16> { receive(sequence, ssrc: 7, on: line) }
        #expect(line.videoSender?.pictureLossIndicated(now: now) == true)
        line.update(media(.audio, mid: "b"), using: &generator)
        receive(1, ssrc: 8, on: line)
        line.update(media(.video, mid: "c"), using: &generator)
        receive(1, ssrc: 9, on: line)
        #expect(line.videoTotals(.main).packetsReceived == 4)
        #expect(line.videoTotals(.main).keyframeRequestsReceived == 1)
        #expect(line.videoTotals(.screenShare) == VideoTotals())
        #expect(line.audioTotals.packetsReceived == 1)
    }

    @Test("what was received stays counted when the sender stops, or sends from another source")
    func pause() {
        var generator = SeededGenerator(seed: 5)
        let line = MediaLine(media(.video, mid: "a"))
        line.setUpStreams(using: &generator)
        receive(1, ssrc: 7, on: line)
        receive(1, ssrc: 8, on: line)
        line.update(media(.video, mid: "a", direction: .sendOnly), using: &generator)
        #expect(line.videoTotals(.main).packetsReceived == 2)
        line.update(media(.video, mid: "a"), using: &generator)
        receive(1, ssrc: 9, on: line)
        #expect(line.videoTotals(.main).packetsReceived == 3)
    }
}
