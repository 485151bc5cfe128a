import MediaCore
import NIOCore
import RTP
import SDP
import Testing

@testable import PeerConnection

/// A source's sequence numbers in a receiver's stream.
@Suite struct ForwardingNumberingTests {
    @Test("gaps are kept, and late packets fill them")
    func gaps() {
        var numbering = ForwardingNumbering(first: 1000, as: 7)
        #expect(numbering.number(1000) == 7)
        #expect(numbering.number(1003) == 10)
        #expect(numbering.number(1001) == 8)
        #expect(numbering.next == 11)
        #expect(numbering.number(999) == nil)
    }

    @Test("dropped packets close up, and do not come back")
    func leftOut() {
        var numbering = ForwardingNumbering(first: 10, as: 0)
        #expect(numbering.number(10) == 0)
        numbering.leaveOut(through: 11)
        numbering.leaveOut(through: 13)
        #expect(numbering.number(14) == 1)
        #expect(numbering.number(11) == nil)
        #expect(numbering.number(12) == nil)
        numbering.leaveOut(through: 15)
        #expect(numbering.number(16) == 2)
        #expect(numbering.number(17) == 3)
        #expect(numbering.number(15) == nil)
    }

    @Test("added packets make room, at the beginning too")
    func inserted() {
        var numbering = ForwardingNumbering(first: 50, as: 100)
        #expect(numbering.insert(2) == 100)
        #expect(numbering.number(50) == 102)
        #expect(numbering.number(52) == 104)
        #expect(numbering.insert(1) == 105)
        #expect(numbering.number(53) == 106)
        #expect(numbering.number(51) == 103)
    }

    @Test("after the end no numbers are given out, and gaps before it can still be filled")
    func ended() {
        var numbering = ForwardingNumbering(first: 0, as: 0)
        for sequence in [Int64(0), 1, 3, 4, 5] { _ = numbering.number(sequence) }
        numbering.close(at: 4)
        #expect(numbering.next == 4)
        #expect(numbering.number(2) == 2)
        #expect(numbering.number(4) == nil)
        #expect(numbering.number(6) == nil)
        numbering.leaveOut(through: 9)
        #expect(numbering.next == 4)
    }

    @Test("only the last changes are remembered, also where every other packet is left out")
    func memory() {
        var numbering = ForwardingNumbering(first: 0, as: 0)
        for sequence in stride(from: Int64(0), to: 2000, by: 2) {
            #expect(numbering.number(sequence) == sequence / 2)
            numbering.leaveOut(through: sequence + 1)
        }
        #expect(numbering.number(1990) == 995)
        #expect(numbering.number(1500) == nil)
        #expect(numbering.next == 1000)
    }

    @Test("a late packet of a frame that was left out fills the place that it has, and no other")
    func lateLeftOut() {
        func packet(_ sequence: Int64, frame: UInt32, starts: Bool = false) -> ForwardedPacket {
            // A slice to which no other picture refers.
            let payload = ByteBuffer(bytes: [0x01, 0x9A, 0x00, 0x10])
            let packet = RTPPacket(
                payloadType: 96, sequenceNumber: UInt16(truncatingIfNeeded: sequence), timestamp: frame, ssrc: 1,
                payload: payload)
            return ForwardedPacket(
                ReceivedVideoPacket(packet: packet, content: .main, rotation: nil, arrival: .zero),
                sequence: sequence, startsFrame: starts)
        }
        var stream = ForwardingStream(first: packet(1, frame: 0), as: 101, timestamp: 5000)
        func place(_ packet: ForwardedPacket, leavesOut: Bool = false) -> [Int64] {
            stream.place(packet, leavesOutDispensable: leavesOut).map { [$0.number, $0.isFiller ? 1 : 0] } ?? []
        }
        #expect(place(packet(1, frame: 0)) == [101, 0])
        #expect(place(packet(2, frame: 3000, starts: true), leavesOut: true) == [])
        #expect(place(packet(4, frame: 3000)) == [])
        // The end of the frame, number 5, is on its way still.
        #expect(place(packet(6, frame: 6000)) == [103, 0])
        #expect(place(packet(7, frame: 9000, starts: true)) == [104, 0])
        #expect(place(packet(3, frame: 3000)) == [])
        #expect(place(packet(5, frame: 3000)) == [102, 1])
        #expect(stream.numbering.next == 105)
    }

    @Test("no number is given out twice, whichever packets come, are left out and are added")
    func unique() {
        var random = SeededGenerator(seed: 3)
        for _ in 0..<300 {
            let first = Int64.random(in: 0...70_000, using: &random)
            var numbering = ForwardingNumbering(first: first, as: Int64.random(in: 0...70_000, using: &random))
            var given: Set<Int64> = []
            var seen: Set<Int64> = []
            var newest = first - 1
            for _ in 0..<400 {
                switch Int.random(in: 0..<12, using: &random) {
                case 0:
                    newest += Int64.random(in: 1...4, using: &random)
                    numbering.leaveOut(through: newest)
                case 1:
                    let count = Int.random(in: 1...2, using: &random)
                    let number = numbering.insert(count)
                    for added in 0..<count {
                        #expect(given.insert((number ?? -1) + Int64(added)).inserted)
                    }
                case 2:
                    let late = newest - Int64.random(in: 0...20, using: &random)
                    guard late >= first, seen.insert(late).inserted else { continue }
                    if let number = numbering.number(late) { #expect(given.insert(number).inserted) }
                default:
                    newest += Bool.random(using: &random) ? 1 : Int64.random(in: 1...3, using: &random)
                    seen.insert(newest)
                    if let number = numbering.number(newest) { #expect(given.insert(number).inserted) }
                    #expect(numbering.next > (given.max() ?? .max))
                }
            }
        }
    }
}
