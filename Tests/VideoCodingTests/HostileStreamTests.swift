import H264
import MediaCore
import NIOCore
import Testing

@testable import VideoCoding

@Suite("Hostile bytes")
struct HostileStreamTests {
    private let dimensions = VideoDimensions(width: 96, height: 64)

    @Test("get one outcome a frame and leave the decoder usable", arguments: backEnds, H264Profile.allCases)
    func mutatedFrames(backEnd: EncoderBackEnd, profile: H264Profile) throws {
        let stream = try makeStream(backEnd, dimensions, frames: 40, profile: profile, bitRate: .kilobits(400))
        var generator = SeededGenerator(seed: UInt64(profile.profileIDC))
        var decoder = try TestDecoder(format: stream[0].sample.format)
        for iteration in 0..<3000 {
            if iteration % 400 == 399 { decoder = try TestDecoder(format: stream[0].sample.format) }
            var sample = stream[iteration % stream.count].sample
            if generator.next() % 2 == 0 {
                sample.data = BlockBuffer(mutate(sample.data.contiguous(), using: &generator))
            }
            if generator.next() % 50 == 0 { sample.isSync.toggle() }
            let outcomes = decoder.decode(sample)
            #expect(outcomes.count == 1, "frame \(iteration)")
        }
        _ = decoder.finishDelayedFrames()
        #expect(decoder.decode(stream[0].sample).first?.picture?.isConcealed == false)
    }

    @Test("in parameter sets are refused or get one outcome a frame")
    func mutatedParameterSets() throws {
        let stream = try makeStream(.openH264, dimensions, frames: 10, profile: .high)
        var generator = SeededGenerator(seed: 3)
        let limits = DecodingLimits(maximumDimension: 512, maximumArea: 512 * 512)
        var decodable = 0
        for _ in 0..<2500 {
            let sets = stream[0].sample.format.parameterSets.map { mutate($0, using: &generator, most: 3) }
            guard let format = try? VideoFormatDescription(h264ParameterSets: sets),
                let decoder = try? TestDecoder(format: format, limits: limits)
            else { continue }
            decodable += 1
            var answered = 0
            for frame in stream {
                var sample = frame.sample
                sample.format = format
                let outcomes = decoder.decode(sample)
                answered += outcomes.count
            }
            answered += decoder.finishDelayedFrames().count
            #expect(answered == stream.count)
        }
        #expect(decodable > 100)
    }

    /// Flips bits, cuts, or replaces a run of bytes.
    private func mutate(_ buffer: ByteBuffer, using generator: inout SeededGenerator, most: UInt64 = 12) -> ByteBuffer {
        var bytes = [UInt8](buffer.readableBytesView)
        guard !bytes.isEmpty else { return buffer }
        switch generator.next() % 6 {
        case 0:
            bytes.removeLast(Int(generator.next() % UInt64(bytes.count)))
        case 1:
            let start = Int(generator.next() % UInt64(bytes.count))
            for index in start..<min(start + 8, bytes.count) {
                bytes[index] = UInt8(truncatingIfNeeded: generator.next())
            }
        default:
            for _ in 0...(generator.next() % most) {
                let bit = Int(generator.next() % UInt64(bytes.count * 8))
                bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            }
        }
        return ByteBuffer(bytes: bytes)
    }
}
