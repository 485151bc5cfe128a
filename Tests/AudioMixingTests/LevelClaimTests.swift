import MediaCore
import NIOCore
import Testing

@testable import AudioMixing

@Suite("Levels that packets claim")
struct LevelClaimTests {
    /// The verdicts over some time on a sender's claims.
    private func verdicts(
        amplitude: Double, claim: UInt8, settings: AudioEncoderSettings = .init(), milliseconds: Int = 2000,
        delay: @escaping (Int) -> Double? = { _ in 10 }
    ) throws -> Set<LevelClaim> {
        let encoder = try OpusEncoder(settings: settings)
        let source = try AudioSource(id: 1)
        var verdicts: Set<LevelClaim> = []
        for tick in 0..<(milliseconds / 20) {
            let now = Double(tick) * 20
            let payload = try encoder.encode(tone(440, amplitude: amplitude, from: tick * 960))
            if let delay = delay(tick) {
                source.insert(
                    AudioPacket(
                        payload: payload, rtpTimestamp: UInt32(tick * 960), sequence: Int64(tick),
                        arrival: .at(now + delay), claimedLevel: AudioLevel(decibelsBelowOverload: claim)))
            }
            source.pull(now: .at(now))
            verdicts.insert(source.levelClaims.takeVerdict())
        }
        return verdicts
    }

    // A sine with amplitude 0.3 has -13 dBov.
    @Test("a claim that is near the decoded level is confirmed", arguments: [3, 13, 24] as [UInt8])
    func honest(claim: UInt8) throws {
        #expect(try verdicts(amplitude: 0.3, claim: claim) == [.unchecked, .confirmed])
        let low = AudioEncoderSettings(bitRate: .kilobits(6), complexity: 0)
        #expect(try verdicts(amplitude: 0.3, claim: claim, settings: low) == [.unchecked, .confirmed])
        let lossy = try verdicts(amplitude: 0.3, claim: claim) { $0 % 5 == 0 ? nil : 10 }
        #expect(lossy == [.unchecked, .confirmed])
    }

    @Test("claims of loud audio are refuted where the audio is silent or much quieter", arguments: [0, 0.001, 0.01])
    func liar(amplitude: Double) throws {
        #expect(try verdicts(amplitude: amplitude, claim: 10) == [.unchecked, .refuted])
    }

    @Test("claims of silence are refuted where the audio is loud")
    func understatement() throws {
        #expect(try verdicts(amplitude: 0.3, claim: 127) == [.unchecked, .refuted])
    }

    @Test("silence that is marked as such is not reported")
    func silence() throws {
        #expect(try verdicts(amplitude: 0, claim: 127) == [.unchecked])
        #expect(try verdicts(amplitude: 0.0005, claim: 60) == [.unchecked])
    }

    @Test("the verdict is there within half a second of decoding")
    func latency() throws {
        #expect(try verdicts(amplitude: 0.3, claim: 13, milliseconds: 500).contains(.confirmed))
        #expect(try verdicts(amplitude: 0, claim: 13, milliseconds: 500).contains(.refuted))
    }
}
