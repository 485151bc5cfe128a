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

    /// Inserts a packet of an IDR picture: a delimiter and a slice.
    private mutating func insert(_ number: UInt16, frame: UInt16, isLast: Bool) {
        let packet = RTPPacket(
            payloadType: 96, marker: isLast, sequenceNumber: number, timestamp: UInt32(frame) * 3000, ssrc: 1,
            payload: ByteBuffer(bytes: [0x78, 0, 2, 0x09, 0x10, 0, 4, 0x65, 0x88, 0x84, 0x00]))
        _ = buffer.insert(packet, now: .zero)
        start.skip(to: packet, in: &buffer) { _ in
            looks += 1
            return false
        }
    }

    private mutating func insertFrames(_ numbers: Range<UInt16>) {
        for number in numbers { insert(number, frame: number, isLast: true) }
    }

    private mutating func pop() {
        while buffer.popNext(now: .zero) != nil {}
    }

    @Test("whole frames are looked at, however many there are behind a gap")
    mutating func short() {
        insertFrames(1..<2)
        pop()
        insertFrames(3..<1003)
        #expect(looks == 1000)
    }

    @Test("a frame that is longer and seems whole with each packet is looked at only now and then")
    mutating func growing() {
        insertFrames(1..<2)
        pop()
        for number in UInt16(300)..<600 { insert(number, frame: 300, isLast: number == 599) }
        for number in (UInt16(3)..<300).reversed() { insert(number, frame: 300, isLast: false) }
        #expect((1..<20).contains(looks))
        insertFrames(2..<3)
        pop()
        looks = 0
        insertFrames(601..<604)
        #expect(looks == 3)
    }
}
