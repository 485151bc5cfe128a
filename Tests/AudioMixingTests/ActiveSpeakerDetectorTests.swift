import AudioMixing
import MediaCore
import Testing

@Suite("Active speaker")
struct ActiveSpeakerDetectorTests {
    /// A room whose levels come each 20 ms.
    private struct Talk {
        var detector = ActiveSpeakerDetector()
        var now = MonotonicInstant(nanoseconds: 0)
        /// Every change of the speaker, with the time since the beginning.
        var changes: [(time: Duration, id: ParticipantID?)] = []

        /// Continues for `duration` with these speaking at these levels (-dBov), and the others of 1, 2 and 3 silent.
        mutating func go(_ duration: Duration, _ voices: [ParticipantID: UInt8] = [:]) {
            let end = now + duration
            while now < end {
                let before = detector.activeSpeaker
                for id in [ParticipantID(1), 2, 3] {
                    let level = voices[id].map { AudioLevel(decibelsBelowOverload: $0, isVoice: true) }
                    detector.observe(level ?? AudioLevel(decibelsBelowOverload: 70), of: id, now: now)
                }
                detector.choose(now: now)
                if detector.activeSpeaker != before {
                    changes.append((now - MonotonicInstant(nanoseconds: 0), detector.activeSpeaker))
                }
                now = now + .milliseconds(20)
            }
        }
    }

    @Test("a participant becomes the speaker after the attack, and stays the speaker while all are silent")
    func attack() {
        var talk = Talk()
        talk.go(.milliseconds(580), [1: 30])
        #expect(talk.detector.activeSpeaker == nil)
        talk.go(.milliseconds(100), [1: 30])
        #expect(talk.detector.activeSpeaker == 1)
        talk.go(.seconds(60))
        #expect(talk.detector.activeSpeaker == 1)
        #expect(talk.changes.count == 1)
    }

    @Test("a cough, however loud, does not change the speaker: not after silence, not while another speaks")
    func cough() {
        var talk = Talk()
        talk.go(.seconds(5), [1: 30])
        // The level meter stays up for 200 ms after the 300 ms of a cough.
        for _ in 0..<10 {
            talk.go(.milliseconds(500), [1: 30, 2: 5])
            talk.go(.seconds(2), [1: 30])
        }
        for _ in 0..<10 {
            talk.go(.milliseconds(500), [2: 5])
            talk.go(.seconds(2))
        }
        #expect(talk.detector.activeSpeaker == 1)
        #expect(talk.changes.count == 1)
    }

    @Test("a sound of 440 ms makes a speaker, and a shorter one does not", arguments: [420, 440])
    func sound(milliseconds: Int) {
        var (meter, detector) = (LevelMeter(), ActiveSpeakerDetector())
        for frame in 0..<100 {
            let isLoud = (20..<20 + milliseconds / 20).contains(frame)
            let now = MonotonicInstant(nanoseconds: Int64(frame) * 20_000_000)
            detector.observe(meter.judge(AudioLevel(decibelsBelowOverload: isLoud ? 25 : 70)), of: 1, now: now)
            detector.choose(now: now)
        }
        #expect((detector.activeSpeaker == 1) == (milliseconds == 440))
    }

    @Test("when the speaker stops, the next participant to speak takes over")
    func takeOver() {
        var talk = Talk()
        talk.go(.seconds(5), [1: 30])
        talk.go(.milliseconds(200))
        talk.go(.seconds(2), [2: 40])
        #expect(talk.detector.activeSpeaker == 2)
        // A pause of 200 ms, then no later than release and attack allow.
        #expect(talk.changes.count == 2)
        #expect((talk.changes.last?.time ?? .zero) < .milliseconds(5000 + 900))
    }

    @Test("the pauses in speech do not end it")
    func pauses() {
        var talk = Talk()
        talk.go(.seconds(3), [1: 30])
        for _ in 0..<20 {
            talk.go(.milliseconds(400), [1: 30])
            talk.go(.milliseconds(300), [2: 50])
            #expect(talk.detector.isSpeaking(1))
        }
        #expect(talk.detector.activeSpeaker == 1)
    }

    @Test("a speaker is shown for the hold at least, however the talk goes")
    func hold() {
        var generator = SeededGenerator(seed: 5)
        var talk = Talk()
        for _ in 0..<600 {
            var voices: [ParticipantID: UInt8] = [:]
            for id in [ParticipantID(1), 2, 3] where Bool.random(using: &generator) {
                voices[id] = UInt8.random(in: 10...60, using: &generator)
            }
            talk.go(.milliseconds(Int64.random(in: 20...1500, using: &generator)), voices)
        }
        #expect(talk.changes.count > 20)
        for (change, next) in zip(talk.changes, talk.changes.dropFirst()) {
            #expect(next.time - change.time >= .seconds(2))
        }
    }

    @Test("the speaker does not alternate between two people who talk at once, unless one is much louder for long")
    func bothTalk() {
        var talk = Talk()
        talk.go(.seconds(3), [1: 30])
        talk.go(.seconds(20), [1: 30, 2: 27])
        #expect(talk.detector.activeSpeaker == 1)
        talk.go(.seconds(20), [1: 30, 2: 20])
        #expect(talk.detector.activeSpeaker == 2)
        #expect(talk.changes.count == 2)
    }

    @Test("if several people begin at once, the loudest is the speaker")
    func loudest() {
        var talk = Talk()
        talk.go(.seconds(2), [1: 40, 2: 22, 3: 35])
        #expect(talk.detector.activeSpeaker == 2)
    }

    @Test("participants count as speaking before they are the speaker, and not for long after they stop")
    func isSpeaking() {
        var talk = Talk()
        talk.go(.milliseconds(300), [1: 30])
        #expect(talk.detector.isSpeaking(1))
        #expect(talk.detector.activeSpeaker == nil)
        talk.go(.milliseconds(600))
        #expect(talk.detector.isSpeaking(1))
        talk.go(.milliseconds(200))
        #expect(!talk.detector.isSpeaking(1))
        #expect(!talk.detector.isSpeaking(2))
        #expect(!talk.detector.isSpeaking(99))
    }

    @Test("earlier speakers are remembered, the newest first, until they leave")
    func recent() {
        var talk = Talk()
        talk.go(.seconds(3), [1: 30])
        talk.go(.seconds(3), [3: 30])
        talk.go(.seconds(3), [2: 30])
        talk.go(.seconds(4), [1: 30])
        #expect(talk.detector.recentSpeakers == [1, 2, 3])
        talk.detector.remove(1)
        #expect(talk.detector.activeSpeaker == nil)
        #expect(talk.detector.recentSpeakers == [2, 3])
        talk.go(.seconds(1), [3: 30])
        #expect(talk.detector.activeSpeaker == 3)
        #expect(talk.detector.recentSpeakers == [3, 2])
    }

    @Test("a stall of the clock is no speech")
    func stall() {
        var talk = Talk()
        talk.go(.milliseconds(100), [1: 30])
        talk.go(.milliseconds(20))
        talk.now = talk.now + .seconds(30)
        talk.go(.milliseconds(20), [1: 30])
        #expect(talk.detector.activeSpeaker == nil)
        #expect(!talk.detector.isSpeaking(1))
    }
}
