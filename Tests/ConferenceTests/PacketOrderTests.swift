import MediaCore
import NIOCore
import Testing

@testable import Conference
@testable import PeerConnection

/// The order of audio packets in a recording.
@Suite struct PacketOrderTests {
    private func order(_ sequences: [Int64], every interval: Duration = .milliseconds(20)) -> [Int64] {
        var order = PacketOrder()
        var delivered: [Int64] = []
        for (index, sequence) in sequences.enumerated() {
            let packet = ReceivedAudioPacket(
                payload: ByteBuffer(bytes: [0]), rtpTimestamp: 0, sequence: sequence, level: nil,
                arrival: .zero + interval * index)
            order.insert(packet) { delivered.append($0.sequence) }
        }
        order.flush { delivered.append($0.sequence) }
        return delivered
    }

    @Test("packets that overtook each other come in their order, each once")
    func reordered() {
        #expect(order([5, 7, 6, 8, 8, 10, 9, 6, 11]) == [5, 6, 7, 8, 9, 10, 11])
    }

    @Test("a packet that does not come is waited for, but not for ever")
    func lost() {
        #expect(order(Array(0..<10) + Array(11..<60)) == Array(0..<10) + Array(11..<60))
        #expect(order(Array(0..<10) + Array(11..<60) + [10]) == Array(0..<10) + Array(11..<60))
    }

    @Test("numbers of another stream begin anew")
    func restart() {
        #expect(order([40_000, 40_001, 3, 4, 5]) == [40_000, 40_001, 3, 4, 5])
    }

    @Test("a sender that begins anew at numbers a little behind is recorded half a second later")
    func restartBehind() {
        let former = Array(Int64(2000)..<2010)
        let behind = Array(Int64(1000)..<1100)
        // The packets come 20 ms apart: those of the first 500 ms may be late ones of the former stream.
        #expect(order(former + behind) == former + behind.dropFirst(25))
    }

    @Test("packets that come seconds late, while others come in time, are left out")
    func late() {
        let present = Array(Int64(2000)..<2100)
        let mixed = present.flatMap { [$0, $0 - 1000] }
        #expect(order(mixed, every: .milliseconds(10)) == present)
    }
}
