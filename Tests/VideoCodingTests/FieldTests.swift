import H264
import H264Fixtures
import MediaCore
import Testing

@testable import VideoCoding

@Suite("A stream of fields")
struct FieldTests {
    private func expectInterlaced(_ picture: DecodedPicture?, top: UInt8, bottom: UInt8) {
        guard let buffer = picture?.pixelBuffer else {
            Issue.record("no picture")
            return
        }
        #expect(buffer.dimensions == RawPictureStream.dimensions)
        for y in 0..<8 { #expect(buffer.luma(x: 3, y: y) == (y % 2 == 0 ? top : bottom)) }
    }

    @Test("gives one picture for a sample with two fields")
    func together() throws {
        var stream = try RawPictureStream(isFrameOnly: false)
        let decoder = try TestDecoder(format: stream.format)
        for number in 0..<20 as Range<UInt32> {
            let samples = stream.fields(
                top: UInt8(number), bottom: UInt8(100 + number), order: number * 2, isIDR: number % 8 == 0, apart: false
            )
            let outputs = samples.flatMap { decoder.decode($0) }
            #expect(outputs.count == 1)
            expectInterlaced(outputs.first?.picture, top: UInt8(number), bottom: UInt8(100 + number))
        }
    }

    @Test("gives the picture for the first of two samples with a field each, and says so for the second")
    func apart() throws {
        var stream = try RawPictureStream(isFrameOnly: false)
        let decoder = try TestDecoder(format: stream.format)
        for number in 0..<20 as Range<UInt32> {
            let samples = stream.fields(
                top: UInt8(number), bottom: UInt8(100 + number), order: number * 2, isIDR: number % 8 == 0, apart: true)
            #expect(decoder.decode(samples[0], token: FrameToken(1)).isEmpty)
            let outputs = decoder.decode(samples[1], token: FrameToken(2))
            #expect(outputs.map(\.token.rawValue) == [1, 2])
            #expect(outputs.first?.presentationTime == samples[0].presentationTime)
            expectInterlaced(outputs.first?.picture, top: UInt8(number), bottom: UInt8(100 + number))
            guard case .dropped(.secondField) = outputs.last?.result else {
                Issue.record("\(outputs)")
                continue
            }
        }
    }

    @Test("has two fields in a sample, which are counted as one picture")
    func counted() throws {
        for isFrameOnly in [false, true] {
            var stream = try RawPictureStream(isFrameOnly: isFrameOnly)
            var tracker = FormatTracker()
            for set in stream.format.parameterSets.compactMap({ NALUnit($0) }) { tracker.add(set) }
            let sample =
                isFrameOnly
                ? stream.frame(10, order: 0, isIDR: true)
                : stream.fields(top: 10, bottom: 20, order: 0, isIDR: true, apart: false)[0]
            let unit = AccessUnit(nalUnits: try sample.nalUnits(), rtpTimestamp: 0)
            let slice = try #require(unit.nalUnits.first { $0.isVCL })
            #expect(tracker.format(of: slice) != nil)
            let count = tracker.codedPictures(of: unit)
            #expect(count.fields == (isFrameOnly ? 0 : 2))
            #expect(count.pictures == (isFrameOnly ? 1 : 2))
            #expect(count.wholePictures == 1)
        }
    }

    @Test("answers each field once though some are lost")
    func lostFields() throws {
        var stream = try RawPictureStream(isFrameOnly: false)
        let decoder = try TestDecoder(format: stream.format)
        var generator = SeededGenerator(seed: 4)
        var pushed: [UInt64] = []
        var outputs: [DecodeOutput] = []
        for number in 0..<60 as Range<UInt32> {
            let samples = stream.fields(
                top: 50, bottom: 60, order: number % 16 * 2, isIDR: number % 16 == 0, apart: number % 3 > 0)
            for sample in samples where generator.next() % 4 > 0 {
                pushed.append(UInt64(pushed.count))
                outputs += decoder.decode(sample, token: FrameToken(pushed[pushed.count - 1]))
            }
        }
        outputs += decoder.finishDelayedFrames()
        #expect(outputs.map(\.token.rawValue).sorted() == pushed)
        #expect(outputs.contains { $0.picture != nil })
    }
}
