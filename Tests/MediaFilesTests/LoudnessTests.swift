import Foundation
import MediaFiles
import Testing

@Suite("Loudness") struct LoudnessTests {
    private func sine(amplitude: Double, seconds: Double) -> [Float] {
        (0..<Int(seconds * 48_000)).map { Float(amplitude * sin(2 * .pi * 997 * Double($0) / 48_000)) }
    }

    @Test("of a sine at full scale in one channel is -3.01 LUFS, as ITU-R BS.1770 says")
    func fullScale() throws {
        let meter = try LoudnessMeter(sampleRate: 48_000)
        meter.add(sine(amplitude: 1, seconds: 5))
        #expect(abs(try #require(meter.integrated) + 3.01) < 0.05)
        #expect(abs(meter.truePeak - 1) < 0.02)
    }

    @Test("follows the level, and leaves out the pauses")
    func pauses() throws {
        let meter = try LoudnessMeter(sampleRate: 48_000)
        meter.add(sine(amplitude: 0.1, seconds: 5) + [Float](repeating: 0, count: 48_000 * 20))
        #expect(abs(try #require(meter.integrated) + 23.01) < 0.2)
    }

    @Test("is unknown of silence and of nothing")
    func silence() throws {
        let meter = try LoudnessMeter(sampleRate: 48_000)
        #expect(meter.integrated == nil)
        meter.add([Float](repeating: 0, count: 96_000))
        #expect(meter.integrated == nil)
        #expect(throws: LoudnessError.self) { try LoudnessMeter(sampleRate: 48_000, channelCount: 0) }
    }
}
