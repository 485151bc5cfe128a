import MediaCore
import NIOCore
import Testing

@testable import H264

/// Seeded hostile input for every parser: nothing may trap, whatever it makes of the bytes.
@Suite struct HostileBytesTests {
    private static let parameterSets = [
        Sample.baselineSPS, Sample.baselinePPS, Sample.highSPS, Sample.highPPS, Sample.interlacedSPS,
        Sample.high422SPS, Sample.high444SPS, Sample.monochromeSPS, Sample.scalingListPPS, Sample.defaultListsPPS,
    ]

    @Test func `damaged parameter sets are parsed or refused`() throws {
        var generator = SeededGenerator(seed: 11)
        var parsed = 0
        for index in 0..<20000 {
            let original = Self.parameterSets[index % Self.parameterSets.count]
            let payload = generator.mutated(Array(original.array.dropFirst()))
            let unit = NALUnit(header: original.header, payload: payload)
            if let set = try? SequenceParameterSet(parsing: unit) {
                parsed += 1
                let isWithinLimits =
                    (1...8192).contains(set.dimensions.width) && (1...8192).contains(set.dimensions.height)
                    && (0...16).contains(set.reorderDepth) && (1...16).contains(set.maximumDecodedFrames)
                #expect(isWithinLimits)
            }
            _ = try? PictureParameterSet(parsing: unit, chromaFormat: UInt8.random(in: 0...3, using: &generator))
            _ = try? VideoFormatDescription(h264ParameterSets: [unit.bytes, Sample.baselinePPS.bytes])
        }
        #expect(parsed > 100)
    }

    @Test func `random bytes as parameter sets are parsed or refused`() {
        var generator = SeededGenerator(seed: 12)
        for _ in 0..<15000 {
            let bytes = generator.bytes(Int.random(in: 0...40, using: &generator))
            _ = try? SequenceParameterSet(parsing: NALUnit(header: 0x67, payload: [100] + bytes))
            _ = try? PictureParameterSet(parsing: NALUnit(header: 0x68, payload: bytes))
            _ = try? AVCDecoderConfigurationRecord(parsing: ByteBuffer(bytes: [1] + bytes))
            _ = try? LengthPrefixed.nalUnits(in: ByteBuffer(bytes: bytes), lengthSize: 1)
        }
    }

    @Test func `damaged avcC records are parsed or refused`() throws {
        var generator = SeededGenerator(seed: 13)
        let format = try VideoFormatDescription(h264ParameterSets: [Sample.highSPS.bytes, Sample.highPPS.bytes])
        let record = AVCDecoderConfigurationRecord(format: format).encode().array
        for _ in 0..<6000 {
            let parsed = try? AVCDecoderConfigurationRecord(parsing: ByteBuffer(bytes: generator.mutated(record)))
            _ = parsed?.encode()
        }
    }

    @Test func `damaged byte streams are divided into access units`() {
        var generator = SeededGenerator(seed: 14)
        for _ in 0..<1500 {
            var slices: [NALUnit] = []
            for _ in 0..<4 { slices.append(generator.nalUnit(type: .codedSliceIDR, size: 0...30)) }
            let stream = AnnexB.encode([Sample.interlacedSPS, Sample.interlacedPPS] + slices)
            var reader = AnnexBReader()
            reader.append(ByteBuffer(bytes: generator.mutated(stream.array)))
            var assembler = AccessUnitAssembler()
            var count = 0
            var units = 0
            while let unit = reader.finish() {
                units += 1
                count += assembler.append(unit)?.count ?? 0
            }
            count += assembler.finish()?.count ?? 0
            #expect(count == units)
        }
    }

    @Test func `damaged payloads are depacketized or dropped`() {
        var generator = SeededGenerator(seed: 15)
        let packetizer = H264Packetizer(mode: .nonInterleaved, maximumPayloadSize: 60)
        var depacketizer = H264Depacketizer()
        var sequence: Int64 = 0
        var timestamp: UInt32 = 0
        for _ in 0..<2000 {
            var units = [Sample.baselineSPS, Sample.baselinePPS]
            units.append(generator.nalUnit(type: .codedSliceIDR, size: 0...300))
            for payload in packetizer.packetize(units) {
                sequence += Int64(Int.random(in: 0..<20, using: &generator) == 0 ? 2 : 1)
                let received = depacketizer.append(
                    payload: ByteBuffer(bytes: generator.mutated(payload.array)), timestamp: timestamp,
                    marker: Int.random(in: 0..<5, using: &generator) == 0, sequence: sequence)
                for unit in received { #expect(!unit.nalUnits.isEmpty) }
                if Int.random(in: 0..<5, using: &generator) == 0 { timestamp &+= 3000 }
            }
        }
        #expect(depacketizer.malformedPayloadCount > 500)
    }

    @Test func `random payloads with random headers are depacketized or dropped`() {
        var generator = SeededGenerator(seed: 16)
        var depacketizer = H264Depacketizer()
        for _ in 0..<30000 {
            _ = depacketizer.append(
                payload: ByteBuffer(bytes: generator.bytes(Int.random(in: 0...12, using: &generator))),
                timestamp: UInt32.random(in: 0...3, using: &generator), marker: Bool.random(using: &generator),
                sequence: Int64.random(in: Int64.min...Int64.max, using: &generator))
            // The numbers only go up, so that the next jump has room.
            if Int.random(in: 0..<8, using: &generator) == 0 { depacketizer = H264Depacketizer() }
        }
    }
}
