import H264
import H264Fixtures
import MediaCore
import NIOCore
import Testing

@testable import VideoCoding

@Suite("A stream whose parameter sets leave reordering open")
struct UntoldReorderingTests {
    /// A keyframe, then groups of four in pyramid order: as shown 4, 2, 1, 3.
    private func pyramid(_ stream: inout RawPictureStream, groups: Int) -> [SampleBuffer] {
        var samples = [stream.frame(16, order: 0, isIDR: true)]
        for group in 0..<UInt32(groups) {
            for (position, isReference) in [(4, true), (2, true), (1, false), (3, false)] as [(UInt32, Bool)] {
                let number = group * 4 + position
                samples.append(stream.frame(UInt8(16 + number), order: number * 2, isReference: isReference))
            }
        }
        return samples
    }

    @Test("comes out in order and complete though its first frames are not delayed")
    func pyramid() throws {
        var stream = try RawPictureStream()
        let samples = pyramid(&stream, groups: 6)
        #expect(stream.format.reorderDepth > 0)
        let decoder = try TestDecoder(format: stream.format)
        var outputs = decoder.decode(samples[0])
        #expect(outputs.count == 1)
        outputs += samples.dropFirst().flatMap { decoder.decode($0) }
        outputs += decoder.finishDelayedFrames()
        #expect(outputs.compactMap { $0.picture?.pixelBuffer.luma(x: 0, y: 0) } == (16...40).map { UInt8($0) })
        #expect(outputs.compactMap { $0.picture?.presentationTime } == (0...24).map { frameTime($0 * 2) })
    }

    @Test("is not delayed as long as it does not reorder", arguments: [1, 2] as [UInt32])
    func inOrder(step: UInt32) throws {
        var stream = try RawPictureStream()
        let decoder = try TestDecoder(format: stream.format)
        for number in 0..<300 as Range<UInt32> {
            let sample = stream.frame(UInt8(number & 127), order: number * step, isIDR: number == 0)
            #expect(decoder.decode(sample).first?.picture?.pixelBuffer.luma(x: 31, y: 31) == UInt8(number & 127))
        }
    }

    @Test("is not delayed where a frame that others refer to was lost")
    func lostReference() throws {
        var stream = try RawPictureStream()
        let decoder = try TestDecoder(format: stream.format)
        for number in 0..<30 as Range<UInt32> {
            guard number % 7 != 5 else {
                stream.skip(isReference: true)
                continue
            }
            let outputs = decoder.decode(stream.frame(UInt8(number), order: number * 2, isIDR: number == 0))
            #expect(outputs.count == 1 && outputs[0].picture?.presentationTime == frameTime(Int(number) * 2))
        }
    }

    @Test("is delayed no longer than to the next keyframe where another frame was lost")
    func lostFrame() throws {
        var stream = try RawPictureStream()
        let decoder = try TestDecoder(format: stream.format)
        var outputs = decoder.decode(stream.frame(1, order: 0, isIDR: true))
        outputs += decoder.decode(stream.frame(2, order: 2))
        #expect(outputs.count == 2)
        stream.skip(isReference: false)
        outputs += decoder.decode(stream.frame(4, order: 6))
        outputs += decoder.decode(stream.frame(5, order: 8))
        #expect(outputs.count == 3)
        outputs += decoder.decode(stream.frame(6, order: 0, isIDR: true))
        #expect(outputs.compactMap { $0.picture?.pixelBuffer.luma(x: 0, y: 0) } == [1, 2, 4, 5, 6])
        #expect(decoder.decode(stream.frame(7, order: 2)).count == 1)
    }

    @Test("continues in order over identical parameter sets and a new PPS, which drain nothing")
    func newParameterSets() throws {
        var stream = try RawPictureStream()
        let samples = pyramid(&stream, groups: 4)
        let same = try VideoFormatDescription(h264ParameterSets: stream.format.parameterSets)
        var other = BitWriter()
        for value in [1, 0] { other.unsigned(value) }
        other.bits(0, 2)
        for value in [0, 0, 0] { other.unsigned(value) }
        other.bits(0, 3)
        for value in [0, 0, 0] { other.unsigned(value) }
        other.bits(0b1001, 4)
        let unit = NALUnit(type: .pictureParameterSet, referenceIDC: 3, rawPayload: other.bytes)
        let more = try VideoFormatDescription(h264ParameterSets: stream.format.parameterSets + [unit.bytes])
        #expect(more != stream.format)

        func run(_ formats: [VideoFormatDescription]) throws -> [[MediaTime]] {
            let decoder = try TestDecoder(format: stream.format)
            return samples.enumerated().map { number, sample in
                var sample = sample
                sample.format = formats[number % formats.count]
                return decoder.decode(sample).compactMap { $0.picture?.presentationTime }
            }
        }
        let plain = try run([stream.format])
        #expect(plain.joined().count > 12)
        #expect(try run([stream.format, same]) == plain)
        #expect(try run([stream.format, more, same]) == plain)
    }

    @Test("counts pictures of picture order count type 1 by its offsets")
    func cyclicOrder() throws {
        var set = try #require(RawPictureStream().format.sequenceParameterSets.first)
        set.pictureOrderCount = .cyclic(
            deltaIsAlwaysZero: true, offsetForNonReferencePicture: -2, offsetForTopToBottomField: 0,
            offsetsForReferenceFrames: [4])
        var counter = PictureOrderCounter(set)
        var stream = try RawPictureStream()
        func count(_ sample: SampleBuffer) throws -> Int {
            let bytes = Array(sample.data.contiguous().readableBytesView.dropFirst(4))
            let slice = bytes.withUnsafeBytes { SliceHeaderPeek($0, sequence: set, pictureSets: []) }
            return counter.count(try #require(slice))
        }
        // I, P, b, P, b in decoding order: each b is shown before the P that precedes it.
        var counts = [try count(stream.frame(0, order: 0, isIDR: true))]
        for _ in 0..<2 {
            counts.append(try count(stream.frame(0, order: 0)))
            counts.append(try count(stream.frame(0, order: 0, isReference: false)))
        }
        #expect(counts == [0, 4, 2, 8, 6])
    }
}
