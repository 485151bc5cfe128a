import MediaCore
import NIOCore
import RTP
import SDP
import Testing

@testable import PeerConnection

/// A sender whose packets are full of the smallest NAL units, each of which costs about as much as a packet.
@Suite struct UnitFloodTests {
    private let stream = VideoReceiveStream(feedback: FeedbackSupport(nack: true, pli: true))
    private var sequence: UInt16 = 0
    private var now = MonotonicInstant(nanoseconds: 1_000_000_000)

    /// Sends frames of a packet each, and returns how many of them were taken.
    private mutating func send(_ count: Int, of payload: [UInt8], each interval: Duration) -> UInt64 {
        let before = stream.totals.framesReceived
        for _ in 0..<count {
            now += interval
            sequence &+= 1
            let packet = RTPPacket(
                payloadType: 96, marker: true, sequenceNumber: sequence, timestamp: UInt32(sequence) * 90, ssrc: 7,
                payload: ByteBuffer(bytes: payload))
            stream.insert(packet, datagram: packet.encode(), size: DataSize(bytes: 1200), now: now) { _ in }
            _ = stream.popFrames(now: now)
        }
        return stream.totals.framesReceived - before
    }

    @Test(
        "of packets with hundreds of NAL units few are taken, and of usual ones all, also right afterwards",
        arguments: [
            [0, 1, 0x06], [0, 2, 0x41, 0x9A], [0, 4, 0x68, 0xCE, 0x3C, 0x80, 0, 4, 0x68, 0xCE, 0x38, 0x80],
        ] as [[UInt8]])
    mutating func flood(units: [UInt8]) {
        let flood = [0x78] + Array(repeatElement(units, count: 1200 / units.count).joined())
        #expect(send(10_000, of: flood, each: .microseconds(200)) <= 180)
        #expect(stream.totals.packetsLost > 9000)
        now += .seconds(1)
        let usual: [UInt8] = [0x78, 0, 2, 0x67, 0x42, 0, 4, 0x68, 0xCE, 0x3C, 0x80, 0, 2, 0x06, 0x05, 0, 2, 0x65, 0x88]
        #expect(send(1000, of: usual, each: .milliseconds(5)) >= 999)
        #expect(send(10_000, of: [0x41, 0x9A], each: .microseconds(200)) == 10_000)
    }
}
