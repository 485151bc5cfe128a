import Foundation
import Testing

@testable import ConferenceClient

@Suite("Audio sources")
struct AudioSourceTests {
    /// The power of a frequency in samples at 48 kHz, by Goertzel's algorithm: about the amplitude squared.
    private func power(of frequency: Double, in samples: [Float], rate: Double = 48_000) -> Double {
        let coefficient = 2 * cos(2 * .pi * frequency / rate)
        var (previous, before) = (0.0, 0.0)
        for sample in samples { (previous, before) = (Double(sample) + coefficient * previous - before, previous) }
        let power = previous * previous + before * before - coefficient * previous * before
        return 4 * power / Double(samples.count * samples.count)
    }

    @Test("a tone has its frequency, and frames join without a step")
    func tone() {
        let source = ToneSource(frequency: 440, amplitude: 0.5)
        let samples = (0..<50).flatMap { _ in source.nextFrame() }
        #expect(samples.count == 48_000)
        #expect(power(of: 440, in: samples) > 100 * power(of: 700, in: samples))
        let steps = zip(samples, samples.dropFirst()).map { abs($1 - $0) }
        #expect(steps.max() ?? 1 < 0.5 * 2 * .pi * 441 / 48_000)
    }

    @Test("names have tones of their own")
    func names() {
        #expect(ToneSource(name: "Ada").frequency != ToneSource(name: "Ben").frequency)
        #expect(ToneSource(name: "Ada").frequency == ToneSource(name: "Ada").frequency)
    }

    @Test("resampling keeps a tone's pitch and strength, and removes frequencies that the new rate cannot represent")
    func resampling() {
        let low = (0..<8000).map { Float(0.5 * sin(2 * .pi * 1000 * Double($0) / 8000)) }
        let up = Resampler.resample(low, from: 8000, to: 48_000)
        #expect(up.count == 48_000)
        #expect(abs(power(of: 1000, in: up) - 0.25) < 0.01)
        #expect(power(of: 7000, in: up) < 0.0001)
        let high = (0..<9600).map { Float(0.5 * sin(2 * .pi * 30_000 * Double($0) / 96_000)) }
        let down = Resampler.resample(high, from: 96_000, to: 48_000)
        #expect(down.dropFirst(100).dropLast(100).allSatisfy { abs($0) < 0.01 })
    }

    @Test("each resampled sample is where it belongs between those of the recording", arguments: [11_025, 44_100])
    func places(rate: Int) {
        func tone(_ rate: Int) -> [Float] {
            (0..<rate / 10).map { Float(0.5 * sin(2 * .pi * 1000 * Double($0) / Double(rate))) }
        }
        let (expected, resampled) = (tone(48_000), Resampler.resample(tone(rate), from: rate, to: 48_000))
        #expect(resampled.count == rate / 10 * 48_000 / rate)
        // The ends have samples on one side only.
        let errors = zip(expected, resampled).map { abs($0 - $1) }.dropFirst(100).dropLast(100)
        #expect(errors.allSatisfy { $0 < 0.002 })
    }

    @Test("a recording starts over at its end")
    func loops() {
        let samples = (0..<1000).map { Float($0) / 1000 }
        let source = LoopedSource(samples: samples)
        #expect(source.nextFrame() == Array(samples[..<960]))
        let second = source.nextFrame()
        #expect(Array(second[..<40]) == Array(samples[960...]))
        #expect(Array(second[40...]) == Array(samples[..<920]))
    }
}
