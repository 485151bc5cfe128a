import H264
import MediaCore
import NIOCore
import Testing

@Suite("An elementary stream reader")
struct ElementaryStreamReaderTests {
    private let sets = [SequenceParameterSetBuilder().build(), PictureParameterSetBuilder().build()]

    /// Pictures of two slices each.
    private func stream(pictures: Int) -> [NALUnit] {
        sets
            + (0..<pictures).flatMap { number in
                [0, 4].map { firstMacroblock in
                    var writer = BitWriter()
                    writer.unsigned(firstMacroblock)
                    writer.unsigned(number == 0 ? 7 : 5)
                    writer.unsigned(0)
                    writer.bits(number % 16, SequenceParameterSetBuilder().log2MaximumFrameNumber)
                    if number == 0 { writer.unsigned(0) }
                    writer.bits(0b1011_0110, 8)
                    writer.stop()
                    return NALUnit(
                        type: number == 0 ? .codedSliceIDR : .codedSliceNonIDR, referenceIDC: 2,
                        rawPayload: writer.bytes)
                }
            }
    }

    private func read(_ bytes: ByteBuffer, piece: Int, frameRate: Double? = nil) -> [SampleBuffer] {
        var (bytes, samples) = (bytes, [SampleBuffer]())
        var reader = ElementaryStreamReader(frameRate: frameRate)
        while let next = bytes.readSlice(length: min(piece, bytes.readableBytes)), next.readableBytes > 0 {
            reader.append(next)
            while let sample = reader.nextSample() { samples.append(sample) }
        }
        while let sample = reader.finish() { samples.append(sample) }
        return samples
    }

    @Test("gives the same samples however the stream is cut", arguments: [1, 2, 3, 7, 50, 10_000])
    func pieces(size: Int) throws {
        let units = stream(pictures: 5)
        let samples = read(AnnexB.encode(units), piece: size)
        #expect(samples.count == 5)
        #expect(samples.map(\.isSync) == [true, false, false, false, false])
        let slices = try samples.flatMap { try LengthPrefixed.nalUnits(in: $0.data.contiguous()) }
        #expect(slices == Array(units.dropFirst(2)))
        #expect(samples.allSatisfy { $0.format.parameterSets == sets.map(\.bytes) })
    }

    @Test("times frames at the rate given")
    func times() {
        let samples = read(AnnexB.encode(stream(pictures: 3)), piece: 100, frameRate: 25)
        #expect(samples.map(\.presentationTime) == (0..<3).map { MediaTime(value: $0, timescale: 25) })
        #expect(samples.allSatisfy { $0.duration == MediaTime(value: 1, timescale: 25) })
    }

    @Test("goes on from the frames before when the stream's own rate changes", arguments: [(25, 50), (50, 25)])
    func changedRate(first: Int, second: Int) {
        let units = [first, second].flatMap { rate in
            var sequence = SequenceParameterSetBuilder()
            sequence.usability = { writer in
                writer.bits(0, 4)
                writer.flag(true)  // timing_info_present_flag
                writer.bits(1, 32)  // num_units_in_tick: half of a frame
                writer.bits(2 * rate, 32)
                writer.bits(0, 5)
            }
            return [sequence.build()] + stream(pictures: 3).dropFirst()
        }
        let samples = read(AnnexB.encode(units), piece: 1000)
        let intervals = [first, second].flatMap { [Int64](repeating: Int64(100 / $0), count: 3) }
        let times = intervals.indices.map { intervals[..<$0].reduce(0, +) }
        #expect(samples.map(\.presentationTime) == times.map { MediaTime(value: $0, timescale: 100) })
        #expect(samples.map(\.duration) == intervals.map { MediaTime(value: $0, timescale: 100) })
    }

    @Test("keeps to a rate whose interval is no whole number of ticks")
    func fractionalRate() {
        let samples = read(AnnexB.encode(stream(pictures: 9)), piece: 1000, frameRate: 60_000 / 1001)
        #expect(samples.last?.presentationTime == MediaTime(value: 8 * 1001, timescale: 60_000))
    }

    @Test("gives each field that is a picture by itself half of a frame's time")
    func fields() {
        var sequence = SequenceParameterSetBuilder()
        sequence.isFrameOnly = false
        let pictures: [(number: Int, isBottom: Bool?)] = [
            (0, nil), (1, false), (1, true), (2, false), (2, true), (3, nil),
        ]
        let slices: [NALUnit] = pictures.map { picture in
            var writer = BitWriter()
            writer.unsigned(0)
            writer.unsigned(7)
            writer.unsigned(0)
            writer.bits(picture.number, 4)
            writer.flag(picture.isBottom != nil)
            if let isBottom = picture.isBottom { writer.flag(isBottom) }
            if picture.number == 0 { writer.unsigned(0) }
            writer.bits(2 * picture.number, 4)
            writer.bits(0b1011_0110, 8)
            writer.stop()
            return NALUnit(
                type: picture.number == 0 ? .codedSliceIDR : .codedSliceNonIDR, referenceIDC: 2,
                rawPayload: writer.bytes)
        }
        let units = [sequence.build(), PictureParameterSetBuilder().build()] + slices
        let samples = read(AnnexB.encode(units), piece: 1000, frameRate: 25)
        let times: [Int64] = [0, 2, 3, 4, 5, 6]
        #expect(samples.map(\.presentationTime) == times.map { MediaTime(value: $0, timescale: 50) })
        let durations: [Int64] = [2, 1, 1, 1, 1, 2]
        #expect(samples.map(\.duration) == durations.map { MediaTime(value: $0, timescale: 50) })
    }

    @Test("leaves out pictures whose parameter sets are missing, and counts them")
    func missingSets() {
        var reader = ElementaryStreamReader()
        reader.append(AnnexB.encode(Array(stream(pictures: 3).dropFirst(2))))
        var found = 0
        while reader.nextSample() != nil { found += 1 }
        while reader.finish() != nil { found += 1 }
        #expect(found == 0)
        #expect(reader.skippedCount == 3)
    }
}
