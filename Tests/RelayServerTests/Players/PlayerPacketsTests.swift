import MediaCore
import RoomAPI
import Testing

@testable import RelayServer

/// The end and the seeks of a player's packets.
@Suite struct PlayerPacketsTests {
    private func isEnd(_ next: PlayerPackets.Next, _ reason: PlayerStatus.Reason?) -> Bool {
        guard case .end(let failure) = next else { return false }
        return failure?.reason == reason
    }

    @Test("the end stays until a seek, which the reader is told of")
    func seek() async {
        let packets = PlayerPackets()
        let reader = Task.detached { packets.tellEnd(nil) }
        while packets.end == nil { await Task.yield() }
        #expect(isEnd(packets.next(), nil) && isEnd(packets.next(), nil))
        packets.seek(to: .seconds(3))
        #expect(await reader.value == .seek(.seconds(3)))
        guard case .nothing = packets.next() else {
            Issue.record("something is left of before")
            return
        }
    }

    @Test("a reader that waits at the end stops when the player does")
    func close() async {
        let packets = PlayerPackets()
        let reader = Task.detached { packets.tellEnd(PlayerFailure(reason: .failed)) }
        while packets.end == nil { await Task.yield() }
        #expect(isEnd(packets.next(), .failed))
        packets.close()
        #expect(await reader.value == .stop)
    }
}
