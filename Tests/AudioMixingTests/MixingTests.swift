import MediaCore
import Testing

@testable import AudioMixing

@Suite("Mixer and limiter")
struct MixingTests {
    @Test("everyone hears the others and not oneself")
    func allButOwn() {
        let frequencies = [500.0, 1000, 1500]
        let frames = frequencies.map { tone($0, amplitude: 0.2) }
        var mixer = AudioMixer()
        mixer.begin()
        for frame in frames { mixer.add(frame) }
        for (index, own) in frames.enumerated() {
            var mix = [Float](repeating: 0, count: 960)
            #expect(mixer.mix(without: own, into: &mix))
            for (other, frequency) in frequencies.enumerated() {
                let expected = other == index ? 0 : 0.2
                #expect(abs(amplitude(of: frequency, in: mix) - expected) < 1e-4)
            }
        }
    }

    @Test("a listener that is not in the mix hears all of it")
    func listener() {
        var mixer = AudioMixer()
        mixer.begin()
        mixer.add(tone(500))
        var mix = [Float](repeating: 1, count: 960)
        #expect(mixer.mix(without: nil, into: &mix))
        #expect(mix == tone(500))
    }

    @Test("the only speaker hears true silence")
    func onlySpeaker() {
        var mixer = AudioMixer()
        mixer.begin()
        mixer.add(tone(500))
        var mix = [Float](repeating: 1, count: 960)
        #expect(!mixer.mix(without: tone(500), into: &mix))
        #expect(mix.allSatisfy { $0 == 0 })
    }

    @Test("a sum does not carry over to the next frame")
    func begin() {
        var mixer = AudioMixer()
        mixer.begin()
        mixer.add(tone(500))
        mixer.begin()
        mixer.add(tone(1000))
        var mix = [Float](repeating: 0, count: 960)
        mixer.mix(without: nil, into: &mix)
        #expect(mix == tone(1000))
    }

    @Test("the limiter does not change samples under its threshold")
    func transparent() {
        var limiter = SoftLimiter()
        let quiet = tone(500, amplitude: Double(SoftLimiter.threshold) - 0.001)
        var frame = quiet
        limiter.process(&frame)
        #expect(frame == quiet)
        #expect(limiter.gain == 1)
    }

    @Test("the limiter never lets anything reach full scale", arguments: [1.0, 2, 5, 40, 1e9])
    func neverClips(loudness: Double) {
        var generator = SeededGenerator(seed: 3)
        var limiter = SoftLimiter()
        for _ in 0..<50 {
            var frame = (0..<960).map { _ in Float(.random(in: -1...1, using: &generator) * loudness) }
            limiter.process(&frame)
            #expect(peak(frame) <= 1)
        }
    }

    @Test("a tone that is too loud comes out near the threshold, undistorted")
    func limits() {
        var limiter = SoftLimiter()
        var output: [Float] = []
        for index in 0..<50 {
            var frame = tone(500, amplitude: 2.5, from: index * 960)
            limiter.process(&frame)
            output += frame
        }
        let settled = output[24_000...]
        let fundamental = amplitude(of: 500, in: settled)
        #expect(fundamental > 0.7 && fundamental < 0.95)
        #expect(amplitude(of: 1500, in: settled) < fundamental * 0.05)
        #expect(amplitude(of: 2500, in: settled) < fundamental * 0.05)
    }

    @Test("the gain comes back within a few tenths of a second, without jumps")
    func release() {
        var limiter = SoftLimiter()
        var loud = tone(500, amplitude: 3)
        limiter.process(&loud)
        #expect(limiter.gain < 0.5)
        var gains = [limiter.gain]
        for index in 0..<60 {
            var quiet = tone(500, amplitude: 0.2, from: index * 960)
            limiter.process(&quiet)
            gains.append(limiter.gain)
        }
        #expect(zip(gains, gains.dropFirst()).allSatisfy { $0 <= $1 && $1 - $0 < 0.2 })
        #expect(gains[25] > 0.97)
        #expect(gains[60] == 1)
    }
}

@Suite("Levels")
struct LevelTests {
    @Test("a square wave of full scale is 0 dBov, and silence 127")
    func reference() {
        let square = (0..<960).map { Float($0 / 48 % 2 == 0 ? 1 : -1) }
        #expect(LevelMeter.level(square).decibelsBelowOverload == 0)
        #expect(LevelMeter.level([Float](repeating: 0, count: 960)).decibelsBelowOverload == 127)
    }

    @Test("a tone's level is that of its power", arguments: [(1.0, 3), (0.1, 23), (0.01, 43), (0.001, 63)])
    func tones(amplitude: Double, expected: UInt8) {
        #expect(LevelMeter.level(tone(1000, amplitude: amplitude)).decibelsBelowOverload == expected)
    }

    @Test("audio that is louder than the background is speech, the background is not")
    func voice() {
        var meter = LevelMeter()
        var generator = SeededGenerator(seed: 4)
        func noise() -> [Float] { (0..<960).map { _ in .random(in: -0.003...0.003, using: &generator) } }
        for _ in 0..<200 { _ = meter.measure(noise()) }
        #expect(!meter.measure(noise()).isVoice)
        #expect(meter.measure(tone(300, amplitude: 0.1)).isVoice)
        // A short pause is still speech, a long one is not.
        #expect(meter.measure(noise()).isVoice)
        for _ in 0..<10 { _ = meter.measure(noise()) }
        #expect(!meter.measure(noise()).isVoice)
    }

    @Test("the noise of a microphone is no speech after it was muted, as it was none before")
    func muted() {
        var meter = LevelMeter()
        var generator = SeededGenerator(seed: 5)
        func noise() -> [Float] { (0..<960).map { _ in .random(in: -0.01...0.01, using: &generator) } }
        for _ in 0..<200 { _ = meter.measure(noise()) }
        #expect(!meter.measure(noise()).isVoice)
        for _ in 0..<100 { #expect(!meter.measure([Float](repeating: 0, count: 960)).isVoice) }
        for _ in 0..<100 { #expect(!meter.measure(noise()).isVoice) }
        #expect(meter.measure(tone(300, amplitude: 0.1)).isVoice)
    }

    @Test("after a pause in which there is hardly a sound, noise is speech for a short time only")
    func quietPause() {
        var meter = LevelMeter()
        for _ in 0..<500 { _ = meter.judge(AudioLevel(decibelsBelowOverload: 70)) }
        let frames = (0..<1000).prefix { _ in meter.judge(AudioLevel(decibelsBelowOverload: 50)).isVoice }.count
        #expect(frames <= 125)
    }

    @Test("the header extension's byte holds the voice flag and the level")
    func headerExtension() {
        #expect(AudioLevel(decibelsBelowOverload: 42, isVoice: true).headerExtensionByte == 0xAA)
        #expect(AudioLevel(headerExtensionByte: 0xAA) == AudioLevel(decibelsBelowOverload: 42, isVoice: true))
        #expect(AudioLevel(headerExtensionByte: 0x7F) == .silence)
        #expect(AudioLevel(decibelsBelowOverload: 255).headerExtensionByte == 0x7F)
    }
}
