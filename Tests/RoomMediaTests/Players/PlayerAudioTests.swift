import MediaCore
import PeerConnection
import Testing

@testable import RoomMedia

/// The timestamps of a player's audio.
@Suite struct PlayerAudioTests {
    /// The timestamps of packets that were due, and sent, at these times in milliseconds, from the first one on.
    private func timestamps(_ packets: [(due: Int, now: Int)]) throws -> [UInt32] {
        var audio = try PlayerAudio()
        let silence = [Float](repeating: 0, count: PlayerPlayout.frameSize)
        var timestamps: [UInt32] = []
        for packet in packets {
            let made = audio.packet(
                of: silence, due: .zero + .milliseconds(packet.due), now: .zero + .milliseconds(packet.now))
            timestamps.append(try #require(made).rtpTimestamp)
        }
        return timestamps.map { $0 &- timestamps[0] }
    }

    @Test("packets of a thread that was late have the times at which they were due")
    func late() throws {
        let prompt = (0..<5).map { (due: $0 * 20, now: $0 * 20) }
        let late = (5..<15).map { (due: $0 * 20, now: 290) }
        #expect(try timestamps(prompt + late) == (0..<15).map { $0 * 960 })
    }

    @Test("audio that was left out is a gap in the timestamps")
    func gap() throws {
        #expect(try timestamps([(0, 0), (20, 20), (100, 190), (120, 190)]) == [0, 960, 4800, 5760])
    }

    @Test("small differences do not add up")
    func drift() throws {
        let packets = (0..<100).map { (due: $0 * 29, now: $0 * 29) }
        let last = try #require(try timestamps(packets).last)
        #expect(abs(Int(last) - 99 * 29 * 48) <= 480)
    }

    @Test("after a jump to an earlier time the timestamps go on, and later gaps count in full")
    func early() throws {
        #expect(try timestamps([(200, 200), (100, 220), (120, 240), (180, 300)]) == [0, 960, 1920, 4800])
    }
}
