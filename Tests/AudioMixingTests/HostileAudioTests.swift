import MediaCore
import NIOCore
import Testing

@testable import AudioMixing

@Suite("Audio source: hostile senders")
struct HostileAudioTests {
    @Test("packets of any content, number and time are harmless", arguments: [1, 2, 3])
    func anything(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let source = try AudioSource(id: 1)
        let encoder = try OpusEncoder(settings: AudioEncoderSettings(expectedPacketLoss: 0.2))
        let valid = try (0..<20).map { try encoder.encode(tone(440, from: $0 * 960)) }
        var (sequence, timestamp) = (Int64(1000), UInt32(0))
        for tick in 0..<3000 {
            for _ in 0..<Int.random(in: 0...3, using: &generator) {
                switch Int.random(in: 0..<40, using: &generator) {
                case 0: sequence = .random(in: -100_000...100_000, using: &generator)
                case 1: timestamp = .random(in: .min ... .max, using: &generator)
                case 2: timestamp &-= .random(in: 0...96_000, using: &generator)
                case 3: timestamp &+= .random(in: 0...96_000, using: &generator)
                case 4: sequence &+= .random(in: -300...300, using: &generator)
                case 5: sequence = [.min, .max, 0].randomElement(using: &generator) ?? 0
                default: break
                }
                sequence &+= 1
                timestamp &+= 960
                var payload = valid[tick % valid.count]
                if Int.random(in: 0..<4, using: &generator) == 0 {
                    let length = Int.random(in: 0...100, using: &generator)
                    payload = ByteBuffer(bytes: (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) })
                }
                let arrival = Double(tick) * 20 - .random(in: 0...60, using: &generator)
                source.insert(
                    AudioPacket(payload: payload, rtpTimestamp: timestamp, sequence: sequence, arrival: .at(arrival)))
            }
            source.pull(now: .at(Double(tick) * 20))
            let isSound = source.frame.count == 960 && source.frame.allSatisfy { abs($0) <= 1 }
            let isBounded = source.packets.count <= AudioSource.packetCapacity && source.queue.count <= 16_384
            if !isSound || !isBounded { Issue.record("tick \(tick): audio \(isSound), bounded \(isBounded)") }
        }
        #expect(source.statistics.malformed > 100)
        // And a good stream is played as ever.
        var sender = try TestSender()
        (sender.firstSequence, sender.firstTimestamp) = (500_000, timestamp &+ 1_000_000_000)
        var played: [Float] = []
        for _ in 0..<600 {
            var (packet, leaves) = try sender.next()
            packet.arrival = .at(60_000 + leaves)
            source.insert(packet)
            source.pull(now: .at(60_000 + leaves))
            played = Array(played.suffix(9600)) + source.frame
        }
        #expect(rootMeanSquare(played) > 0.15)
    }

    @Test("a flood of packets is bounded")
    func flood() throws {
        let source = try AudioSource(id: 1)
        let payload = try OpusEncoder().encode(tone(440))
        for index in 0..<10_000 {
            source.insert(
                AudioPacket(
                    payload: payload, rtpTimestamp: UInt32(index), sequence: Int64(index), arrival: .at(0)))
        }
        #expect(source.packets.count == AudioSource.packetCapacity)
        for tick in 0..<20 { source.pull(now: .at(Double(tick) * 20)) }
    }

    @Test("a payload larger than Opus has is not kept")
    func oversized() throws {
        let source = try AudioSource(id: 1)
        let payload = ByteBuffer(repeating: 0x7C, count: 60_000)
        source.insert(AudioPacket(payload: payload, rtpTimestamp: 0, sequence: 0, arrival: .at(0)))
        #expect(source.statistics.malformed == 1)
        #expect(source.packets.count == 0)
    }
}
