import MediaCore
import NIOCore
import Testing

@testable import AudioMixing

@Suite("Mixing session")
struct AudioMixingSessionTests {
    @Test("everyone hears the others and not oneself")
    func allButOwn() throws {
        let tones: [ParticipantID: Double] = [1: 400, 2: 700, 3: 1100]
        var room = TestRoom()
        for (id, frequency) in tones.sorted(by: { $0.key < $1.key }) { try room.join(id, tone: frequency) }
        _ = try room.run(20)
        let heard = try room.run(100)
        #expect(heard.count == 3)
        for (id, samples) in heard {
            #expect(samples.count == 96_000)
            for (other, frequency) in tones {
                let amplitude = amplitude(of: frequency, in: samples)
                if other == id { #expect(amplitude < 0.02) } else { #expect(amplitude > 0.15) }
            }
        }
    }

    @Test("a listener without a source hears everyone")
    func listener() throws {
        var room = TestRoom()
        try room.join(1, tone: 400)
        try room.join(2, tone: 700)
        room.decoders[9] = try OpusDecoder()
        room.input.apply(.addReceiver(9, AudioEncoderSettings()))
        _ = try room.run(20)
        let samples = try room.run(50)[9] ?? []
        #expect(amplitude(of: 400, in: samples) > 0.15)
        #expect(amplitude(of: 700, in: samples) > 0.15)
    }

    @Test("levels of sources and mixes are reported")
    func levels() throws {
        var room = TestRoom()
        try room.join(1, tone: 400)
        try room.join(2, tone: nil)
        _ = try room.run(50)
        var packets: [AudioPacket] = []
        if let packet = try room.senders[1]?.next().packet { packets.append(packet) }
        for packet in packets { room.input.insert(packet, from: 1) }
        let result = room.session.tick(room.input.take(), now: .at(1000))
        // A sine of 0.3 is 13.5 dB under a square wave of 1.
        #expect(abs(Int(result.sources[1]?.level.decibelsBelowOverload ?? 0) - 14) <= 1)
        #expect(result.sources[1]?.level.isVoice == true)
        #expect(result.sources[2]?.level == .silence)
        #expect(abs(Int(result.packets[2]?.level.decibelsBelowOverload ?? 0) - 14) <= 1)
        #expect(result.packets[1]?.level == .silence)
    }

    @Test("a receiver without audio gets packets of silence, and the first audio after them is complete")
    func silence() throws {
        var room = TestRoom()
        try room.join(1, tone: nil)
        try room.join(2, tone: nil)
        let silence = try room.run(300)
        for samples in silence.values {
            #expect(samples.count == 300 * 960)
            #expect(peak(samples) < 1e-3)
        }
        var sender = try TestSender()
        sender.signal = { tone(400, from: $0, count: $1) }
        room.senders[1] = sender
        let heard = try room.run(30)[2] ?? []
        #expect(peak(heard) < 0.5)
        #expect(amplitude(of: 400, in: heard[(960 * 8)...]) > 0.2)
    }

    @Test("receivers outside the mix share an encoder; receivers in the mix have their own")
    func shared() throws {
        var room = TestRoom()
        try room.join(1, tone: 400)
        for id in 2...9 { try room.join(ParticipantID(rawValue: UInt64(id)), tone: nil) }
        _ = try room.run(20)
        #expect(room.encodeCount == 2)
        let heard = try room.run(20)
        let mix = try #require(heard[2])
        #expect(amplitude(of: 400, in: mix) > 0.15)
        for id in 3...9 { #expect(heard[ParticipantID(rawValue: UInt64(id))] == mix) }
        #expect(peak(try #require(heard[1])) < 1e-3)
    }

    @Test("receivers of different rates and losses share within their class, at no more than their rate")
    func classes() throws {
        var room = TestRoom()
        try room.join(1, tone: 400)
        for (id, rate) in [(2, 33.0), (3, 39), (4, 25), (5, 31)] {
            try room.join(
                ParticipantID(rawValue: UInt64(id)), tone: nil,
                settings: AudioEncoderSettings(bitRate: .kilobits(rate)))
        }
        _ = try room.run(20)
        #expect(room.encodeCount == 3)
        room.input.apply(.setExpectedPacketLoss(0.2, 3))
        _ = try room.run(1)
        #expect(room.encodeCount == 4)
    }

    @Test("a rate that goes up and down a little does not change the class")
    func steadyClass() {
        var present: AudioEncoderSettings?
        var changes = 0
        for step in 0..<200 {
            let rate = BitRate.kilobits(step.isMultiple(of: 2) ? 31 : 33)
            let next = AudioEncoderSettings(bitRate: rate).shared(present: present)
            #expect(next.bitRate <= rate)
            if let present, next != present { changes += 1 }
            present = next
        }
        #expect(changes <= 1)
        #expect(AudioEncoderSettings(bitRate: .kilobits(60)).shared(present: present).bitRate == .kilobits(48))
    }

    @Test("a participant that begins to speak, and stops, hears the others without a gap or a click")
    func handOver() throws {
        var room = TestRoom()
        try room.join(1, tone: 400)
        try room.join(2, tone: nil)
        var sender = try TestSender()
        sender.signal = { position, count in
            // Speaks from 0.6 s to 1.2 s, and nobody else hears it as loud as the tone.
            (28_800..<57_600).contains(position)
                ? tone(1500, amplitude: 0.05, from: position, count: count) : [Float](repeating: 0, count: count)
        }
        room.senders[2] = sender
        _ = try room.run(15)
        let heard = try room.run(150)[2] ?? []
        #expect(room.ownEncodes > 20)
        let steady = amplitude(of: 400, in: heard[..<9600])
        for start in stride(from: 0, to: heard.count - 960, by: 480) {
            let part = amplitude(of: 400, in: heard[start..<(start + 960)])
            #expect(abs(part - steady) < 0.15 * steady, "at \(start)")
        }
        let largestStep = zip(heard, heard.dropFirst()).map { abs($0 - $1) }.max() ?? 0
        #expect(largestStep < 0.06)
    }

    @Test("inaudible noise is not mixed in, pauses of speech are")
    func gate() {
        var gate = MixGate()
        func process(_ frame: inout [Float], _ level: AudioLevel) -> Bool {
            let isOpen = gate.isAudible(at: level)
            return gate.process(&frame, isOpen: isOpen)
        }
        let quiet = AudioLevel(decibelsBelowOverload: 70)
        var frame = [Float](repeating: 0.001, count: 960)
        #expect(!process(&frame, quiet))
        frame = [Float](repeating: 0.1, count: 960)
        #expect(process(&frame, AudioLevel(decibelsBelowOverload: 20)))
        #expect(frame[0] == 0 && frame[200] == 0.1)
        for _ in 0..<(MixGate.hold - 1) { #expect(process(&frame, quiet) && gate.gain == 1) }
        frame = [Float](repeating: 0.001, count: 960)
        #expect(process(&frame, quiet) && gate.gain == 0)
        #expect(frame[959] < 0.00001)
        #expect(!process(&frame, quiet))
    }

    @Test(
        "the loudest of many voices are heard, all others share an encode, and a louder voice takes a place"
    )
    func loudestVoices() throws {
        var room = TestRoom(session: AudioMixingSession(maximumVoices: 2))
        let amplitudes: [ParticipantID: Double] = [1: 0.3, 2: 0.05, 3: 0.25, 4: 0.05, 5: 0.05]
        for (id, amplitude) in amplitudes.sorted(by: { $0.key < $1.key }) {
            let frequency = 300 * Double(id.rawValue)
            try room.join(id, tone: frequency)
            room.senders[id]?.signal = { position, count in
                // The last of them raises their voice after two seconds.
                let isLoud = id == 5 && position >= 96_000
                return tone(frequency, amplitude: isLoud ? 0.6 : amplitude, from: position, count: count)
            }
        }
        _ = try room.run(50)
        let before = try room.run(40)
        #expect(room.encodeCount == 3)
        for (listener, loud) in [(ParticipantID(1), [900.0]), (3, [300]), (2, [300, 900])] {
            let samples = try #require(before[listener])
            for frequency in [300.0, 600, 900, 1200, 1500] {
                let amplitude = amplitude(of: frequency, in: samples)
                if loud.contains(frequency) { #expect(amplitude > 0.15) } else { #expect(amplitude < 0.01) }
            }
        }
        _ = try room.run(60)
        let after = try #require(try room.run(40)[2])
        #expect(amplitude(of: 1500, in: after) > 0.4)
        #expect(amplitude(of: 300, in: after) > 0.15)
        #expect(amplitude(of: 900, in: after) < 0.01)
        #expect(room.encodeCount == 3)
    }

    @Test("who speaks softly takes the place of a fan that is louder")
    func softVoice() throws {
        var room = TestRoom(session: AudioMixingSession(maximumVoices: 2))
        for id in 1...4 { try room.join(ParticipantID(rawValue: UInt64(id)), tone: Double(300 * id)) }
        for fan in [1, 2] as [ParticipantID] {
            room.senders[fan]?.signal = { tone(300 * Double(fan.rawValue), amplitude: 0.035, from: $0, count: $1) }
        }
        room.senders[3]?.signal = { position, count in
            // Words of 0.3 s and pauses, after twelve seconds.
            let speaks = position >= 576_000 && position / 14_400 % 2 == 0
            return tone(900, amplitude: speaks ? 0.012 : 0, from: position, count: count)
        }
        room.senders[4]?.signal = { tone(1200, amplitude: 0, from: $0, count: $1) }
        _ = try room.run(650)
        let heard = try #require(try room.run(30)[4])
        #expect(amplitude(of: 900, in: heard) > 0.004)
    }

    @Test("voices of one loudness do not take turns")
    func equalVoices() throws {
        var room = TestRoom(session: AudioMixingSession(maximumVoices: 2))
        for id in 1...4 { try room.join(ParticipantID(rawValue: UInt64(id)), tone: Double(400 * id)) }
        _ = try room.run(50)
        let heard = try #require(try room.run(150)[4])
        let heardTones = [400.0, 800, 1200].filter { amplitude(of: $0, in: heard) > 0.15 }
        #expect(heardTones.count == 2)
        #expect(
            [400.0, 800, 1200].allSatisfy { amplitude(of: $0, in: heard) > 0.15 || amplitude(of: $0, in: heard) < 0.01 }
        )
    }

    @Test("loud people together do not clip")
    func loud() throws {
        var room = TestRoom()
        for id in 1...6 {
            try room.join(ParticipantID(rawValue: UInt64(id)), tone: Double(200 + 130 * id))
            let frequency = Double(200 + 130 * id)
            room.senders[ParticipantID(rawValue: UInt64(id))]?.signal = {
                tone(frequency, amplitude: 0.9, from: $0, count: $1)
            }
        }
        _ = try room.run(20)
        for samples in try room.run(50).values {
            #expect(peak(samples) < 1.15)
            #expect(rootMeanSquare(samples) > 0.2)
        }
    }

    @Test("a participant that has left is neither heard nor served")
    func leaving() throws {
        var room = TestRoom()
        try room.join(1, tone: 400)
        try room.join(2, tone: 700)
        try room.join(3, tone: nil)
        _ = try room.run(20)
        room.input.apply(.removeSource(1))
        room.input.apply(.removeReceiver(1))
        room.senders[1] = nil
        _ = try room.run(5)
        let heard = try room.run(30)
        #expect(heard[1] == nil)
        #expect(amplitude(of: 400, in: heard[3] ?? []) < 0.01)
        #expect(amplitude(of: 700, in: heard[3] ?? []) > 0.2)
    }

    @Test("a receiver's rate can change during the call")
    func bitRate() throws {
        var room = TestRoom()
        try room.join(1, tone: 400)
        try room.join(2, tone: nil)
        func size() throws -> Int {
            var bytes = 0
            for _ in 0..<50 {
                guard var packet = try room.senders[1]?.next().packet else { break }
                packet.arrival = .at(Double(room.tick) * 20)
                room.input.insert(packet, from: 1)
                let result = room.session.tick(room.input.take(), now: packet.arrival)
                bytes += result.packets[2]?.payload.readableBytes ?? 0
                room.tick += 1
            }
            return bytes
        }
        _ = try size()
        let before = try size()
        room.input.apply(.setBitRate(.kilobits(10), 2))
        _ = try size()
        #expect(try size() * 2 < before)
    }

    @Test("two runs of the same call are the same to the bit")
    func repeatable() throws {
        func run() throws -> [[Float]] {
            var room = TestRoom()
            for id in 1...5 { try room.join(ParticipantID(rawValue: UInt64(id)), tone: Double(150 * id)) }
            return try room.run(40).sorted { $0.key < $1.key }.map(\.value)
        }
        #expect(try run() == run())
    }

    @Test("the packets of a tick are bounded, and those of unknown sources ignored")
    func boundedInput() throws {
        var input = AudioMixingInput()
        let packet = AudioPacket(payload: ByteBuffer(), rtpTimestamp: 0, sequence: 0, arrival: .at(0))
        for _ in 0..<1000 { input.insert(packet, from: 1) }
        #expect(input.packets[1]?.count == AudioMixingInput.maximumPacketsPerSource)
        #expect(input.droppedPackets == 1000 - AudioMixingInput.maximumPacketsPerSource)
        let taken = input.take()
        #expect(input.isEmpty && !taken.isEmpty)
        let result = AudioMixingSession().tick(taken, now: .at(0))
        #expect(result.packets.isEmpty && result.sources.isEmpty && result.failures.isEmpty)
    }

    @Test("of changes that wait for a tick, only those remain that have an effect")
    func boundedChanges() throws {
        var input = AudioMixingInput()
        input.apply(.addSource(2))
        for round in 0..<1000 {
            input.apply(.removeSource(1))
            input.apply(.addSource(1))
            input.apply(.removeReceiver(1))
            input.apply(.addReceiver(1, .init()))
            input.apply(.setBitRate(.kilobits(24), 1))
            input.apply(.setExpectedPacketLoss(Double(round) / 1000, 1))
        }
        #expect(input.changes.count == 7)
        let session = AudioMixingSession()
        let before = session.tick(input.take(), now: .at(0))
        #expect(Set(before.sources.keys) == [1, 2] && Set(before.packets.keys) == [1])
        input.apply(.removeSource(1))
        input.apply(.removeReceiver(1))
        let after = session.tick(input.take(), now: .at(20))
        #expect(Set(after.sources.keys) == [2] && after.packets.isEmpty)
    }
}
