import MediaCore
import NIOCore
import RTP
import SDP
import Testing

@testable import PeerConnection

/// A received stream that goes on while further offers change what may be asked of its sender.
@Suite struct FurtherFeedbackTests {
    private static func media(_ feedback: FeedbackSupport) -> NegotiatedMedia {
        NegotiatedMedia(
            kind: .video, index: 0, payloadType: 96, direction: .receiveOnly, keys: nil,
            feedback: feedback, localSSRC: 1)
    }

    @Test("missing packets and keyframes are asked for as the last offer permits")
    func changes() {
        let start = MonotonicInstant(nanoseconds: 1_000_000_000)
        let stream = VideoReceiveStream(Self.media(.none))
        func insert(_ number: UInt16, now: MonotonicInstant) {
            let packet = RTPPacket(
                payloadType: 96, marker: true, sequenceNumber: number, timestamp: UInt32(number) * 3000, ssrc: 7,
                payload: ByteBuffer(bytes: [0x41, 0x9A, 0x01]))
            let datagram = packet.encode()
            stream.insert(packet, datagram: datagram, size: DataSize(bytes: datagram.readableBytes), now: now) { _ in }
        }
        insert(1, now: start)
        insert(3, now: start)
        #expect(stream.nacksDue(now: start + .milliseconds(10)).isEmpty)
        #expect(!stream.canRequestKeyframes)

        stream.media = Self.media(FeedbackSupport(nack: true, pli: true))
        #expect(stream.nacksDue(now: start + .milliseconds(20)) == [2])
        stream.keyframeWanted(now: start + .milliseconds(20))
        #expect(stream.takeKeyframeRequest(roundTripTime: .milliseconds(50), now: start + .milliseconds(20)))

        stream.media = Self.media(.none)
        insert(5, now: start + .milliseconds(30))
        #expect(stream.nacksDue(now: start + .milliseconds(40)).isEmpty)
        #expect(!stream.takeKeyframeRequest(roundTripTime: .milliseconds(50), now: start + .seconds(1)))
    }
}
