import MediaCore
import NIOCore
import RTP
import Testing

@testable import PeerConnection

@Suite("Frames behind a gap with which decoding can begin")
struct WaitingStartTests {
    private var buffer = JitterBuffer()
    private var start = WaitingStart()
    private var looks = 0

    /// Inserts a whole frame of one packet: a delimiter and an IDR slice.
    private mutating func insert(_ number: UInt16) {
        let packet = RTPPacket(
            payloadType: 96, marker: true, sequenceNumber: number, timestamp: UInt32(number) * 3000, ssrc: 1,
            payload: ByteBuffer(bytes: [0x78, 0, 2, 0x09, 0x10, 0, 4, 0x65, 0x88, 0x84, 0x00]))
        _ = buffer.insert(packet, now: .zero)
        start.skip(to: packet, in: &buffer) { _ in
            looks += 1
            return false
        }
    }

    @Test("of a sender whose frames all look like a beginning only the first 64 behind a gap are looked at")
    mutating func bounded() {
        insert(1)
        while buffer.popNext(now: .zero) != nil {}
        for number in UInt16(3)..<103 { insert(number) }
        #expect(looks == 64)
        insert(2)
        while buffer.popNext(now: .zero) != nil {}
        insert(103)
        while buffer.popNext(now: .zero) != nil {}
        for number in UInt16(105)..<110 { insert(number) }
        #expect(looks == 69)
    }
}
