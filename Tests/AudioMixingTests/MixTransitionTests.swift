import MediaCore
import NIOCore
import Testing

@testable import AudioMixing

@Suite("Changes of the mix")
struct MixTransitionTests {
    /// A tone at the times of `seconds` after the sender's start.
    private func sender(_ frequency: Double, amplitude: Double = 0.3, at seconds: Range<Double>...) throws -> TestSender
    {
        var sender = try TestSender()
        sender.signal = { start, count in
            let isOn = seconds.contains { $0.contains(Double(start) / 48_000) }
            return isOn
                ? tone(frequency, amplitude: amplitude, from: start, count: count) : Array(repeating: 0, count: count)
        }
        return sender
    }

    @Test("the audio of a participant that leaves while it is heard fades out")
    func leaving() throws {
        var room = TestRoom()
        try room.join(1, tone: 440)
        try room.join(2, tone: nil)
        _ = try room.run(50)
        _ = try room.run(10)
        room.input.apply(.removeSource(1))
        room.senders[1] = nil
        let heard = try #require(room.run(20)[2])
        #expect(roughness(of: heard) < 0.03)
        #expect(peak(heard[1920...]) < 0.01)
    }

    @Test("who leaves does not hear itself")
    func leavingAlone() throws {
        var room = TestRoom()
        try room.join(1, tone: 440)
        try room.join(2, tone: nil)
        _ = try room.run(50)
        room.input.apply(.removeSource(1))
        room.senders[1] = nil
        #expect(peak(try #require(room.run(20)[1])) < 0.01)
    }

    @Test("who returns while it leaves is heard")
    func returning() throws {
        var room = TestRoom()
        try room.join(1, tone: 440)
        try room.join(2, tone: nil)
        _ = try room.run(50)
        room.input.apply(.removeSource(1))
        room.input.apply(.addSource(1))
        _ = try room.run(20)
        #expect(amplitude(of: 440, in: try #require(room.run(20)[2])) > 0.2)
    }

    @Test("a receiver that is added while its participant speaks does not hear it")
    func addedWhileSpeaking() throws {
        var room = TestRoom()
        try room.join(1, tone: 440)
        try room.join(2, tone: nil)
        _ = try room.run(50)
        room.input.apply(.removeReceiver(1))
        _ = try room.run(10)
        room.input.apply(.addReceiver(1, AudioEncoderSettings()))
        #expect(peak(try #require(room.run(20)[1])) < 0.01)
    }

    @Test("after a pause of the mixer nobody hears what was mixed before it", arguments: [false, true])
    func mixerPause(hasLeft: Bool) throws {
        var room = TestRoom()
        try room.join(1, tone: 440)
        try room.join(2, tone: nil)
        _ = try room.run(50)
        room.senders[1] = nil
        room.input.apply(.removeReceiver(2))
        room.input.apply(.removeSource(1))
        if !hasLeft { room.input.apply(.addSource(1)) }
        room.input.apply(.addReceiver(2, AudioEncoderSettings()))
        room.decoders[2] = try OpusDecoder()
        room.tick += 250
        #expect(peak(try #require(room.run(20)[2])) < 0.01)
    }

    @Test("a participant's encoder sends nothing of what it heard before a pause")
    func pause() throws {
        var room = TestRoom()
        for id: ParticipantID in [1, 2, 3] { try room.join(id, tone: nil) }
        room.senders[1] = try sender(440, at: 0..<2, 6..<10)
        room.senders[2] = try sender(700, at: 0..<4)
        _ = try room.run(290)
        let heard = try #require(room.run(60)[1])
        #expect(room.encodeCount == 2)
        #expect(peak(heard) < 0.01)
    }

    @Test("silence is complete and takes few bytes after a while, and the audio after it begins at once")
    func silence() throws {
        var room = TestRoom()
        try room.join(1, tone: nil)
        // With FEC, packets have the modes of speech, which begin softly after a loss.
        try room.join(2, tone: nil, settings: AudioEncoderSettings(expectedPacketLoss: 0.1))
        room.senders[1] = try sender(440, at: 0..<1, 4..<6)
        _ = try room.run(190)
        let result = room.session.tick(room.input.take(), now: .at(190 * 20))
        #expect(result.packets[2]?.payload == OpusEncoder.silence)
        room.tick += 1
        let heard = try #require(room.run(40)[2])
        #expect(peak(heard[..<4800]) < 1e-6)
        let start = try #require(heard.firstIndex { $0 > 0.05 })
        #expect(amplitude(of: 440, in: heard[(start + 240)..<(start + 1200)]) > 0.29)
        #expect(roughness(of: heard) < 0.03)
    }
}
