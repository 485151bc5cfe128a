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
}
