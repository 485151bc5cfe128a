import MediaCore
import NIOCore
import RTP
import SDP
import Testing

@testable import PeerConnection

@Suite("The deadline of a request for a keyframe")
struct KeyframeDeadlineTests {
    @Test("does not come before the first packet, which tells whom to ask")
    func noSource() throws {
        var now = MonotonicInstant(nanoseconds: 1_000_000_000)
        let stream = VideoReceiveStream(feedback: FeedbackSupport(pli: true))
        stream.setUnseen(true, needsKeyframe: false, now: now)
        stream.setUnseen(false, needsKeyframe: true, now: now)
        now += .seconds(1)
        #expect(stream.nextDeadline > now)
        #expect(!stream.takeKeyframeRequest(roundTripTime: .milliseconds(50), now: now))
        let packet = RTPPacket(
            payloadType: 96, marker: true, sequenceNumber: 9, timestamp: 0, ssrc: 7,
            payload: ByteBuffer(bytes: [0x41, 0x9A, 0x01]))
        let datagram = packet.encode()
        stream.insert(packet, datagram: datagram, size: DataSize(bytes: datagram.readableBytes), now: now) { _ in }
        #expect(stream.nextDeadline <= now)
        #expect(stream.takeKeyframeRequest(roundTripTime: .milliseconds(50), now: now))
    }
}
