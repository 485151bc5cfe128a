import MediaCore
import NIOCore
import RTP
import SDP
import Testing

@testable import PeerConnection

@Suite("The sources of a stream of video")
struct SourceSuccessionTests {
    private let start = MonotonicInstant(nanoseconds: 1_000_000_000)
    private let stream = VideoReceiveStream(feedback: FeedbackSupport(pli: true))

    private func receive(_ sequence: UInt16, ssrc: UInt32, at time: Duration) {
        let packet = RTPPacket(
            payloadType: 96, marker: true, sequenceNumber: sequence, timestamp: 0, ssrc: ssrc,
            payload: ByteBuffer(bytes: [0x41, 0x9A, 0x01]))
        let datagram = packet.encode()
        stream.insert(
            packet, datagram: datagram, size: DataSize(bytes: datagram.readableBytes), now: start + time
        ) { _ in }
    }

    @Test("a late packet of a source that another has replaced does not end the new stream")
    func latePacket() {
        receive(1, ssrc: 7, at: .zero)
        receive(3, ssrc: 7, at: .milliseconds(30))
        receive(1, ssrc: 8, at: .milliseconds(60))
        receive(2, ssrc: 7, at: .milliseconds(61))
        receive(2, ssrc: 8, at: .milliseconds(90))
        #expect(stream.ssrc == 8)
        #expect(stream.reception.packetsReceived == 2)
    }

    @Test("of several sources that go on at once, one is received")
    func simulcast() {
        for sequence in 1...20 as ClosedRange<UInt16> {
            for ssrc in 7...9 as ClosedRange<UInt32> {
                receive(sequence, ssrc: ssrc, at: .milliseconds(30 * Int(sequence)))
            }
        }
        #expect(stream.ssrc == 9)
        #expect(stream.reception.packetsReceived == 20)
    }

    @Test("a replaced source comes back when the present one has ended")
    func comesBack() {
        receive(1, ssrc: 7, at: .zero)
        receive(1, ssrc: 8, at: .milliseconds(30))
        receive(2, ssrc: 7, at: .milliseconds(1029))
        #expect(stream.ssrc == 8)
        receive(3, ssrc: 7, at: .milliseconds(1030))
        #expect(stream.ssrc == 7)
        receive(2, ssrc: 8, at: .milliseconds(1031))
        #expect(stream.ssrc == 7)
    }
}
