import COpus
import MediaCore
import NIOCore
import Testing

@testable import AudioMixing

@Suite("Opus sessions")
struct OpusTests {
    @Test("a tone comes back as it was")
    func roundTrip() throws {
        let (encoder, decoder) = (try OpusEncoder(), try OpusDecoder())
        var decoded: [Float] = []
        for index in 0..<50 { decoded += try decoder.decode(encoder.encode(tone(440, from: index * 960))) }
        #expect(decoded.count == 48_000)
        #expect(abs(amplitude(of: 440, in: decoded[9600...]) - 0.3) < 0.05)
        #expect(amplitude(of: 1000, in: decoded[9600...]) < 0.01)
    }

    @Test("all frame sizes up to 60 ms are encoded and decoded", arguments: [120, 240, 480, 960, 1920, 2880])
    func frameSizes(size: Int) throws {
        let payload = try OpusEncoder().encode(tone(440, count: size))
        #expect(OpusDecoder.sampleCount(of: payload) == size)
        #expect(try OpusDecoder().decode(payload).count == size)
    }

    @Test("a frame of any other size is an error", arguments: [0, 1, 959, 961, 5760])
    func wrongFrameSize(size: Int) throws {
        let encoder = try OpusEncoder()
        #expect(throws: OpusError.unsupportedFrameSize(samples: size)) { try encoder.encode(tone(440, count: size)) }
    }

    @Test("the bitrate follows from one frame to the next")
    func bitRate() throws {
        let encoder = try OpusEncoder(settings: AudioEncoderSettings(bitRate: .kilobits(16)))
        var generator = SeededGenerator(seed: 1)
        func second() throws -> Int {
            try (0..<50).reduce(0) { size, _ in
                let noise = (0..<960).map { _ in Float.random(in: -0.3...0.3, using: &generator) }
                return size + (try encoder.encode(noise).readableBytes)
            }
        }
        let low = try second()
        encoder.setBitRate(.kilobits(64))
        let high = try second()
        #expect(abs(low - 2000) < 500)
        #expect(abs(high - 8000) < 2000)
    }

    @Test("rates, losses and complexities out of range are held within it")
    func settingsOutOfRange() throws {
        let encoder = try OpusEncoder(
            settings: AudioEncoderSettings(bitRate: .zero, complexity: 99, expectedPacketLoss: -.infinity))
        encoder.setBitRate(.megabits(1000))
        encoder.setExpectedPacketLoss(.nan)
        encoder.setExpectedPacketLoss(.infinity)
        #expect(try encoder.encode(tone(440)).readableBytes > 0)
    }

    @Test("stereo is folded down to mono")
    func stereo() throws {
        var code: Int32 = 0
        let encoder = opus_encoder_create(48_000, 2, OPUS_APPLICATION_AUDIO, &code)
        defer { opus_encoder_destroy(encoder) }
        let decoder = try OpusDecoder()
        var decoded: [Float] = []
        for index in 0..<50 {
            let (left, right) = (tone(400, from: index * 960), tone(1200, from: index * 960))
            let interleaved = zip(left, right).flatMap { [$0, $1] }
            var bytes = [UInt8](repeating: 0, count: 1500)
            let size = opus_encode_float(encoder!, interleaved, 960, &bytes, 1500)
            decoded += try decoder.decode(ByteBuffer(bytes: bytes[..<Int(size)]))
        }
        #expect(decoded.count == 48_000)
        #expect(abs(amplitude(of: 400, in: decoded[9600...]) - 0.15) < 0.03)
        #expect(abs(amplitude(of: 1200, in: decoded[9600...]) - 0.15) < 0.03)
    }

    @Test("with expected loss, packets carry the frame before, from which a lost one is restored")
    func forwardErrorCorrection() throws {
        let encoder = try OpusEncoder(settings: AudioEncoderSettings(expectedPacketLoss: 0.3))
        let decoder = try OpusDecoder()
        // A tone that changes: concealment cannot guess it.
        let frequencies = (0..<40).map { Double(300 + $0 * 37 % 600) }
        let payloads = try frequencies.enumerated().map { try encoder.encode(tone($1, from: $0 * 960)) }
        for index in 0..<30 { _ = try decoder.decode(payloads[index]) }
        #expect(OpusPacket.carriesFEC(payloads[31]))
        let recovered = try decoder.recover(sampleCount: 960, from: payloads[31])
        #expect(amplitude(of: frequencies[30], in: recovered) > 0.15)
    }

    @Test("without expected loss, packets carry nothing of the frame before")
    func noForwardErrorCorrection() throws {
        let encoder = try OpusEncoder(settings: AudioEncoderSettings(usesInBandFEC: false))
        for index in 0..<20 { #expect(!OpusPacket.carriesFEC(try encoder.encode(tone(440, from: index * 960)))) }
    }

    @Test("an empty payload and one of a wrong length are not Opus")
    func malformed() throws {
        let decoder = try OpusDecoder()
        for bytes: [UInt8] in [[], [0x03], [0x7B, 0x00], [0x7F, 0x3F, 0x00], [0x02, 0xFF, 0x01]] {
            let payload = ByteBuffer(bytes: bytes)
            #expect(throws: OpusError.self) { try decoder.decode(payload) }
        }
    }

    @Test("no payload brings the decoder down")
    func hostilePayloads() throws {
        var generator = SeededGenerator(seed: 2)
        let decoder = try OpusDecoder()
        let encoder = try OpusEncoder(settings: AudioEncoderSettings(expectedPacketLoss: 0.2))
        let valid = try (0..<10).map { Array(buffer: try encoder.encode(tone(440, from: $0 * 960))) }
        for round in 0..<10_000 {
            var bytes: [UInt8]
            if round % 2 == 0 {
                bytes = (0..<Int.random(in: 0...60, using: &generator)).map { _ in
                    .random(in: 0...255, using: &generator)
                }
            } else {
                bytes = valid[round % valid.count]
                bytes.removeLast(Int.random(in: 0..<bytes.count, using: &generator))
                if !bytes.isEmpty {
                    bytes[Int.random(in: bytes.indices, using: &generator)] ^=
                        1 << UInt8.random(in: 0...7, using: &generator)
                }
            }
            let payload = ByteBuffer(bytes: bytes)
            _ = OpusPacket.carriesFEC(payload)
            let decoded = (try? decoder.decode(payload)) ?? []
            if decoded.count > OpusDecoder.maximumSampleCount || !decoded.allSatisfy({ abs($0) <= 1 }) {
                Issue.record("\(bytes) became \(decoded.count) samples, not all from -1 to 1")
            }
            if round % 10 == 0 { _ = try? decoder.recover(sampleCount: 960, from: payload) }
        }
    }
}
