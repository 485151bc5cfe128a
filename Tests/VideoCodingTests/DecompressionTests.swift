import H264
import H264Fixtures
import MediaCore
import NIOCore
import Testing

@testable import VideoCoding

@Suite("A decompression session")
struct DecompressionTests {
    @Test("hands out its own memory, and reuses it only when the last holder has released it")
    func memory() throws {
        let stream = try makeStream(.openH264, mediumPicture, frames: 40)
        let decoder = try TestDecoder(format: stream[0].sample.format)
        var held: [PixelBuffer] = []
        for frame in stream.prefix(3) {
            held.append(try #require(decoder.decode(frame.sample).first?.picture).pixelBuffer)
        }
        let addresses = held.map(\.lumaAddress)
        #expect(Set(addresses).count == 3)
        let first = held[0].withPlane(0) { bytes, _ in [UInt8](bytes) }
        var reused: Set<UnsafeRawPointer?> = []
        for frame in stream[3..<20] {
            let outcomes = decoder.decode(frame.sample)
            reused.insert(outcomes.first?.picture?.pixelBuffer.lumaAddress)
        }
        // Fewer places than frames: memory is recycled. None of them is a held picture's.
        #expect(reused.count < 10)
        #expect(reused.isDisjoint(with: addresses))
        #expect(held[0].withPlane(0) { bytes, _ in [UInt8](bytes) } == first)
        held = []
        var later: Set<UnsafeRawPointer?> = []
        var kept: [DecodeOutput] = []
        for frame in stream[20...] {
            kept += decoder.decode(frame.sample)
            later.insert(kept.last?.picture?.pixelBuffer.lumaAddress)
        }
        #expect(!later.isDisjoint(with: addresses))
    }

    @Test("leaves its pictures alive when it ends itself")
    func outlived() throws {
        let stream = try makeStream(.openH264, smallPicture, frames: 2, bitRate: .megabits(2))
        var decoder: TestDecoder? = try TestDecoder(format: stream[0].sample.format)
        let picture = try #require(decoder?.decode(stream[0].sample).first?.picture)
        decoder = nil
        #expect(signalToNoise(picture.pixelBuffer, MovingPattern(smallPicture).picture(0)) > 30)
    }

    @Test("crops to the sample without a copy")
    func cropping() throws {
        let dimensions = VideoDimensions(width: 150, height: 86)
        let stream = try makeStream(.openH264, dimensions, frames: 2, bitRate: .megabits(3))
        #expect(stream[0].sample.format.codedDimensions == VideoDimensions(width: 160, height: 96))
        let decoder = try TestDecoder(format: stream[0].sample.format)
        let picture = try #require(decoder.decode(stream[0].sample).first?.picture)
        #expect(picture.pixelBuffer.dimensions == dimensions)
        #expect(signalToNoise(picture.pixelBuffer, MovingPattern(dimensions).picture(0)) > 30)
    }

    @Test("drops frames before the first keyframe, with the reason")
    func beforeKeyframe() throws {
        let stream = try makeStream(.openH264, smallPicture, frames: 4)
        let decoder = try TestDecoder(format: stream[0].sample.format)
        for frame in stream.dropFirst() {
            let outcomes = decoder.decode(frame.sample)
            #expect(outcomes.count == 1)
            guard case .dropped(.awaitingKeyframe) = outcomes.first?.result else {
                Issue.record("\(outcomes)")
                continue
            }
        }
        #expect(decoder.decode(stream[0].sample).first?.picture != nil)
    }

    @Test("answers each frame at once after a frame was lost", arguments: backEnds)
    func loss(backEnd: EncoderBackEnd) throws {
        let stream = try makeStream(backEnd, smallPicture, frames: 30)
        let decoder = try TestDecoder(format: stream[0].sample.format)
        for (number, frame) in stream.enumerated() where ![7, 12].contains(number) {
            let outcomes = decoder.decode(frame.sample)
            #expect(outcomes.count == 1)
            #expect(outcomes.first?.picture?.presentationTime == frameTime(number))
        }
    }

    @Test("does not begin to delay where frames are left out and the SPS says nothing of reordering")
    func framesLeftOut() throws {
        let stream = try makeStream(.openH264, smallPicture, frames: 30)
        let format = try bareFormat(of: stream[0].sample.format)
        let decoder = try TestDecoder(format: format)
        for (number, frame) in stream.enumerated() where ![7, 15, 16].contains(number) {
            var sample = frame.sample
            sample.format = format
            let outcomes = decoder.decode(sample)
            #expect(outcomes.count == 1)
            #expect(outcomes.first?.picture?.presentationTime == frameTime(number))
        }
    }

    @Test("says that a picture with a damaged slice is concealed")
    func concealment() throws {
        let stream = try makeStream(.openH264, mediumPicture, frames: 4, bitRate: .megabits(3))
        let decoder = try TestDecoder(format: stream[0].sample.format)
        _ = decoder.decode(stream[0].sample)
        let units = try stream[1].nalUnits
        var slice = units[0].bytes
        slice.moveWriterIndex(to: slice.writerIndex - slice.readableBytes * 2 / 3)
        var sample = stream[1].sample
        sample.data = BlockBuffer(LengthPrefixed.encode([try #require(NALUnit(slice))]))
        let picture = try #require(decoder.decode(sample).first?.picture)
        #expect(picture.isConcealed)
    }

    @Test("continues with a new PPS and uses it")
    func newPictureParameterSet() throws {
        // Two encoders whose PPS differ (entropy coding) under one profile.
        let first = try makeStream(.openH264, smallPicture, frames: 3)
        let other = try makeStream(.openH264, smallPicture, frames: 3, profile: .main)
        let format = first[0].sample.format
        let mixed = try VideoFormatDescription(
            h264ParameterSets: [format.parameterSets[0], other[0].sample.format.parameterSets[1]])
        let decoder = try TestDecoder(format: mixed)
        #expect(decoder.canAccept(first[0].sample.format) == .accept)
        #expect(first.allSatisfy { decoder.decode($0.sample).first?.picture?.isConcealed == false })
    }

    @Test("ignores parameter sets inside a sample")
    func parameterSetsInData() throws {
        let stream = try makeStream(.openH264, smallPicture, frames: 3)
        let foreign = try makeStream(.openH264, mediumPicture, frames: 1)[0].sample.format.parameterSets
        let decoder = try TestDecoder(format: stream[0].sample.format)
        for frame in stream {
            var sample = frame.sample
            sample.data = BlockBuffer(
                LengthPrefixed.encode(foreign.compactMap(NALUnit.init) + (try frame.nalUnits)))
            let picture = try #require(decoder.decode(sample).first?.picture)
            #expect(picture.pixelBuffer.dimensions == smallPicture)
            #expect(!picture.isConcealed)
        }
    }

    @Test("refuses samples that are no NAL units, and answers empty ones")
    func malformedSamples() throws {
        let stream = try makeStream(.openH264, smallPicture, frames: 1)
        let decoder = try TestDecoder(format: stream[0].sample.format)
        var sample = stream[0].sample
        for bytes: [UInt8] in [[1], [0, 0, 0, 5, 0x65], [0xFF, 0xFF, 0xFF, 0xFF, 0x65, 1, 2]] {
            sample.data = BlockBuffer(ByteBuffer(bytes: bytes))
            guard case .failed(.malformedSample) = decoder.decode(sample).first?.result else {
                Issue.record("\(bytes) was taken")
                continue
            }
        }
        for bytes: [UInt8] in [[], [0, 0, 0, 0], [0, 0, 0, 1, 0x06], [0, 0, 0, 2, 0x09, 0xF0]] {
            sample.data = BlockBuffer(ByteBuffer(bytes: bytes))
            let outcomes = decoder.decode(sample)
            #expect(outcomes.count == 1)
            guard case .dropped(.empty) = outcomes.first?.result else {
                Issue.record("\(bytes): \(outcomes)")
                continue
            }
        }
        #expect(decoder.decode(stream[0].sample).first?.picture != nil)
    }

    @Test("continues with a smaller picture, in its present memory")
    func smallerPicture() throws {
        let tiny = VideoDimensions(width: 96, height: 64)
        let samples = try [mediumPicture, tiny, mediumPicture].flatMap { dimensions in
            try makeStream(.openH264, dimensions, frames: 6).map(\.sample)
        }
        let decoder = try TestDecoder(format: samples[0].format)
        let shown = samples.flatMap { decoder.decode($0) }.map { $0.picture?.pixelBuffer.dimensions }
        #expect(shown == samples.map(\.format.dimensions))
    }

    @Test("fails a sample of a format that it cannot continue with")
    func unacceptedFormat() throws {
        let stream = try makeStream(.openH264, smallPicture, frames: 1)
        let decoder = try TestDecoder(format: stream[0].sample.format)
        let other = try makeStream(.openH264, mediumPicture, frames: 1)
        guard case .failed(.formatNotAccepted) = decoder.decode(other[0].sample).first?.result else {
            Issue.record("a larger picture was taken")
            return
        }
        #expect(decoder.decode(stream[0].sample).first?.picture != nil)
    }

    @Test("starts again at a keyframe after it was finished")
    func finished() throws {
        let stream = try makeStream(.openH264, smallPicture, frames: 4)
        let decoder = try TestDecoder(format: stream[0].sample.format)
        #expect(stream.allSatisfy { decoder.decode($0.sample).count == 1 })
        #expect(decoder.finishDelayedFrames().isEmpty)
        guard case .dropped(.awaitingKeyframe) = decoder.decode(stream[1].sample).first?.result else {
            Issue.record("a frame without its references was shown")
            return
        }
        #expect(stream.allSatisfy { decoder.decode($0.sample).first?.picture != nil })
    }

    /// The format with an SPS that says the same but allows for frames left out, and has no VUI.
    private func bareFormat(of format: VideoFormatDescription) throws -> VideoFormatDescription {
        let set = try SequenceParameterSet(parsing: #require(NALUnit(format.parameterSets[0])))
        guard case .explicit(let log2MaximumLSB) = set.pictureOrderCount else {
            Issue.record("the encoder does not send picture order counts")
            return format
        }
        var bits = BitWriter()
        bits.bits(Int(set.profileLevel.profileIDC), 8)
        bits.bits(Int(set.profileLevel.constraintFlags), 8)
        bits.bits(Int(set.profileLevel.levelIDC), 8)
        bits.unsigned(Int(set.id))
        bits.unsigned(set.log2MaximumFrameNumber - 4)
        bits.unsigned(0)
        bits.unsigned(log2MaximumLSB - 4)
        bits.unsigned(set.maximumReferenceFrames)
        bits.bits(1, 1)  // gaps in frame_num allowed, as where layers of frames may be left out
        bits.unsigned(set.codedDimensions.width / 16 - 1)
        bits.unsigned(set.codedDimensions.height / 16 - 1)
        bits.bits(1, 1)
        bits.bits(set.infersDirect8x8 ? 1 : 0, 1)
        bits.bits(0, 1)
        bits.bits(0, 1)  // no VUI
        bits.bits(1, 1)
        let bare = NALUnit(type: .sequenceParameterSet, referenceIDC: 3, rawPayload: bits.bytes)
        let made = try VideoFormatDescription(h264ParameterSets: [bare.bytes] + format.parameterSets.dropFirst())
        #expect(made.dimensions == format.dimensions)
        #expect(made.reorderDepth == 0)
        return made
    }
}
