import MediaCore
import NIOCore
import Testing

@testable import AudioMixing

@Suite("Audio source: loss and order")
struct AudioSourceTests {
    /// Returns the number of 20 ms frames that have less than half of the tone's power.
    private func holes(in samples: some Collection<Float>) -> Int {
        let samples = Array(samples)
        return stride(from: 0, to: samples.count - 959, by: 960).count {
            rootMeanSquare(samples[$0..<($0 + 960)]) < 0.3 / 2.squareRoot() * 0.7
        }
    }

    @Test("a steady stream is played completely, with little delay")
    func steady() throws {
        var link = try TestLink(sender: TestSender())
        try link.run(200)
        let played = try link.run(4000)
        #expect(holes(in: played) == 0)
        #expect(abs(amplitude(of: 440, in: played) - 0.3) < 0.05)
        let statistics = link.source.statistics
        #expect(statistics.concealed == .zero && statistics.underruns == 0 && statistics.late == 0)
        #expect(statistics.playoutDelay <= .milliseconds(60))
        #expect(link.source.level.decibelsBelowOverload >= 12 && link.source.level.decibelsBelowOverload <= 15)
    }

    @Test("packets of every length are played completely", arguments: [120, 240, 480, 960, 1920, 2880])
    func packetLengths(length: Int) throws {
        var sender = try TestSender()
        sender.packetSamples = length
        var link = try TestLink(sender: sender)
        try link.run(400)
        let played = try link.run(2000)
        #expect(holes(in: played) == 0)
        #expect(link.source.statistics.concealed == .zero)
    }

    /// The output for speech with some packets lost, and the output for all of it.
    private func playSpeech(
        milliseconds: Int, settings: AudioEncoderSettings = AudioEncoderSettings(expectedPacketLoss: 0.2),
        losing isLost: @escaping (Int) -> Bool
    ) throws -> (lossy: [Float], whole: [Float], statistics: AudioSourceStatistics) {
        func play(_ isLost: @escaping (Int) -> Bool) throws -> ([Float], AudioSourceStatistics) {
            var sender = try TestSender(settings: settings)
            sender.signal = { Array(speech(from: $0, count: $1)) }
            var link = try TestLink(sender: sender)
            link.delay = { isLost($0) ? nil : 10 }
            return (try link.run(milliseconds), link.source.statistics)
        }
        let (lossy, statistics) = try play(isLost)
        return (lossy, try play { _ in false }.0, statistics)
    }

    /// The number of pieces of 20 ms in which `lossy` has less than a quarter of the amplitude of `whole`.
    private func holes(in lossy: [Float], beside whole: [Float]) -> Int {
        stride(from: 0, to: whole.count - 959, by: 960).count {
            rootMeanSquare(lossy[$0..<($0 + 960)]) < rootMeanSquare(whole[$0..<($0 + 960)]) * 0.25
        }
    }

    @Test("lost packets are recovered from the copy in the next one")
    func recovery() throws {
        let (lossy, whole, statistics) = try playSpeech(milliseconds: 5000) { $0 > 50 && $0 % 10 == 0 }
        // The encoder makes FEC copies only of audio that it classifies as speech.
        #expect(statistics.recoveredByFEC >= 10)
        #expect(statistics.concealed <= .milliseconds(180))
        #expect(holes(in: lossy, beside: whole) == 0)
        #expect(rootMeanSquare(lossy) > rootMeanSquare(whole) * 0.9)
    }

    @Test("of longer gaps the last packet comes back, and the rest is concealed")
    func gaps() throws {
        let (lossy, whole, statistics) = try playSpeech(milliseconds: 5000) { $0 > 50 && $0 % 20 < 2 }
        #expect(statistics.recoveredByFEC >= 5)
        #expect(statistics.concealed >= .milliseconds(180) && statistics.concealed <= .milliseconds(300))
        #expect(holes(in: lossy, beside: whole) <= 2)
    }

    @Test("lost packets of 60 ms are restored completely")
    func longRecovery() throws {
        var sender = try TestSender()
        sender.packetSamples = 2880
        sender.signal = { Array(speech(from: $0, count: $1)) }
        var link = try TestLink(sender: sender)
        link.delay = { $0 > 20 && $0 % 8 == 0 ? nil : 10 }
        try link.run(6000)
        #expect(link.source.statistics.recoveredByFEC >= 5)
        #expect(link.source.statistics.late == 0)
    }

    @Test("without such copies, lost packets are concealed")
    func concealment() throws {
        let (lossy, whole, statistics) = try playSpeech(
            milliseconds: 5000, settings: AudioEncoderSettings(usesInBandFEC: false)
        ) { $0 > 50 && $0 % 10 == 0 }
        #expect(statistics.recoveredByFEC == 0)
        #expect(statistics.concealed >= .milliseconds(360) && statistics.concealed <= .milliseconds(440))
        #expect(holes(in: lossy, beside: whole) <= 2)
        #expect(rootMeanSquare(lossy) > rootMeanSquare(whole) * 0.85)
    }

    @Test("random loss of a tenth keeps the audio's power", arguments: [1, 2, 3])
    func randomLoss(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let lost = (0..<400).map { _ in Double.random(in: 0..<1, using: &generator) < 0.1 }
        let (lossy, whole, statistics) = try playSpeech(milliseconds: 6000) { $0 > 10 && lost[$0 % 400] }
        #expect(statistics.recoveredByFEC > 10)
        #expect(holes(in: lossy, beside: whole) <= 3)
        #expect(rootMeanSquare(lossy) > rootMeanSquare(whole) * 0.9)
    }

    @Test("lost packets make no click, wherever the frames begin", arguments: [16.0, 48], [0.0, 0.2])
    func clicks(kilobits: Double, expectedLoss: Double) throws {
        var generator = SeededGenerator(seed: 1)
        let delays = (0..<400).map { _ in
            Double.random(in: 0..<1, using: &generator) < 0.2 ? nil : Double.random(in: 10..<40, using: &generator)
        }
        let settings = AudioEncoderSettings(bitRate: .kilobits(kilobits), expectedPacketLoss: expectedLoss)
        var link = try TestLink(sender: TestSender(settings: settings))
        link.delay = { delays[$0 % 400] }
        try link.run(500)
        let played = try link.run(8000)
        #expect(link.source.statistics.underruns > 5)
        #expect(roughness(of: played) < 0.03)
    }

    @Test("without packets the audio fades out within a tenth of a second")
    func fading() throws {
        var link = try TestLink(sender: TestSender())
        link.delay = { $0 < 50 ? 10 : nil }
        try link.run(1060)
        let faded = try link.run(1000)
        #expect(rootMeanSquare(faded[..<960]) > 0.01)
        #expect(peak(faded[9600...]) == 0)
        #expect(link.source.level == .silence && link.source.frame.allSatisfy { $0 == 0 })
        // The fade is smooth: no step larger than the tone itself makes.
        #expect(zip(faded, faded.dropFirst()).allSatisfy { abs($1 - $0) < 0.05 })
    }

    @Test("audio continues after a pause of any length", arguments: [60, 130, 500, 3000, 20_000])
    func pause(milliseconds: Int) throws {
        let packets = milliseconds / 20
        var link = try TestLink(sender: TestSender())
        link.delay = { $0 >= 50 && $0 < 50 + packets ? nil : 10 }
        try link.run(1000 + milliseconds + 400)
        let played = try link.run(1000)
        #expect(holes(in: played) == 0)
        #expect(link.source.statistics.playoutDelay <= .milliseconds(80))
    }

    @Test("packets out of order are played in order")
    func reordering() throws {
        var link = try TestLink(sender: TestSender())
        // Every third packet is overtaken by the next.
        link.delay = { $0 % 3 == 0 ? 35 : 10 }
        try link.run(1000)
        let before = link.source.statistics
        let played = try link.run(3000)
        #expect(holes(in: played) == 0)
        #expect(link.source.statistics.late == before.late)
        #expect(link.source.statistics.concealed == before.concealed)
    }

    @Test("duplicates are counted and change nothing")
    func duplicates() throws {
        let (plain, doubled) = (try AudioSource(id: 1), try AudioSource(id: 2))
        var sender = try TestSender()
        for index in 0..<100 {
            let (packet, _) = try sender.next()
            plain.insert(packet)
            for _ in 0..<3 { doubled.insert(packet) }
            let now = MonotonicInstant.at(Double(index) * 20)
            plain.pull(now: now)
            doubled.pull(now: now)
            #expect(plain.frame == doubled.frame)
        }
        #expect(doubled.statistics.duplicates == 200)
        #expect(doubled.statistics.packetsDecoded == plain.statistics.packetsDecoded)
    }

    @Test("packets that come after their time are counted and not played")
    func latePackets() throws {
        var link = try TestLink(sender: TestSender())
        link.delay = { $0 > 20 && $0 % 25 == 0 ? 400 : 10 }
        try link.run(4000)
        #expect(link.source.statistics.late >= 5)
        #expect(link.source.statistics.restarts == 0)
    }

    @Test("a stream that restarts with other numbers plays at once")
    func restart() throws {
        let source = try AudioSource(id: 1)
        var now = 0.0
        for (sequence, timestamp) in [(Int64(65_000), UInt32(1_000_000)), (400, 3_900_000_000), (70_000, 5)] {
            var sender = try TestSender()
            (sender.firstSequence, sender.firstTimestamp) = (sequence, timestamp)
            let start = now
            var played: [Float] = []
            for _ in 0..<60 {
                var (packet, leaves) = try sender.next()
                packet.arrival = .at(start + leaves)
                source.insert(packet)
                source.pull(now: .at(start + leaves))
                played += source.frame
                now = start + leaves + 20
            }
            #expect(holes(in: played[(960 * 8)...]) == 0)
        }
        #expect(source.statistics.restarts == 2)
    }

    @Test("a sender that sets its timestamps back is heard on", arguments: [150, 500, 900])
    func timestampsSetBack(milliseconds: Int) throws {
        let source = try AudioSource(id: 1)
        var sender = try TestSender()
        var played: [Float] = []
        for index in 0..<150 {
            var (packet, leaves) = try sender.next()
            if index >= 75 { packet.rtpTimestamp &-= UInt32(milliseconds * 48) }
            source.insert(packet)
            source.pull(now: .at(leaves))
            played += source.frame
        }
        #expect(holes(in: played[(960 * 81)...]) == 0)
        #expect(source.statistics.restarts == 1)
        #expect(source.statistics.playoutDelay <= .milliseconds(60))
    }

    @Test("a stream that replaces another does not click", arguments: [0.0, 7, 13])
    func replacement(phase: Double) throws {
        let source = try AudioSource(id: 1)
        var played: [Float] = []
        for (start, timestamp) in [(0.0, UInt32(1_000_000)), (1000, 3_900_000_000)] {
            var sender = try TestSender()
            sender.firstTimestamp = timestamp
            for _ in 0..<50 {
                var (packet, leaves) = try sender.next()
                packet.arrival = .at(start + leaves)
                source.insert(packet)
                source.pull(now: .at(start + leaves + phase))
                played += source.frame
            }
        }
        #expect(source.statistics.restarts == 1)
        #expect(roughness(of: played) < 0.03)
    }

    @Test("a single packet with a wild timestamp disturbs nothing")
    func strayPacket() throws {
        let source = try AudioSource(id: 1)
        var sender = try TestSender()
        var played: [Float] = []
        for index in 0..<100 {
            let (packet, leaves) = try sender.next()
            source.insert(packet)
            if index % 20 == 10 {
                var stray = packet
                stray.rtpTimestamp &+= UInt32(500_000 * index)
                stray.sequence += 5000
                source.insert(stray)
            }
            source.pull(now: .at(leaves))
            played += source.frame
        }
        #expect(holes(in: played[(960 * 8)...]) == 0)
        #expect(source.statistics.restarts == 0)
        #expect(source.statistics.concealed == .zero)
    }

    @Test("a sender that falls silent by DTX is not heard as loss")
    func discontinuousTransmission() throws {
        let settings = AudioEncoderSettings(usesDTX: true)
        var sender = try TestSender(settings: settings)
        // Speech for a second, silence for two, and so on.
        sender.signal = { start, count in
            start / 48_000 % 3 == 0 ? tone(440, from: start, count: count) : [Float](repeating: 0, count: count)
        }
        let source = try AudioSource(id: 1)
        var played: [Float] = []
        var sequence: Int64 = 0
        for _ in 0..<450 {
            var (packet, leaves) = try sender.next()
            if packet.payload.readableBytes > 2 {
                // Only sent packets are numbered.
                packet.sequence = sequence
                sequence += 1
                source.insert(packet)
            }
            source.pull(now: .at(leaves))
            played += source.frame
        }
        #expect(holes(in: played[(48_000 * 6 + 9600)..<(48_000 * 6 + 43_200)]) == 0)
        #expect(rootMeanSquare(played[(48_000 * 5)..<(48_000 * 5 + 24_000)]) < 0.001)
        #expect(source.statistics.playoutDelay <= .milliseconds(60))
    }
}
