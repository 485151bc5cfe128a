import MediaCore
import Testing

@testable import VideoCoding

@Suite("Going back behind lost frames", .serialized)
struct ReferenceInvalidationTests {
    private let pattern = MovingPattern(mediumPicture)

    private func makeEncoder(_ backEnd: EncoderBackEnd) throws -> TestEncoder {
        try TestEncoder(backEnd, mediumPicture, bitRate: .megabits(1.5), profile: .main) {
            $0.longTermReferences = true
            $0.profileLevel.level = H264Level(levelIDC: 40)
        }
    }

    /// Encodes frames and acknowledges every reference a few frames after it came.
    private func encode(_ numbers: Range<Int>, with encoder: TestEncoder) throws -> [EncodedFrame] {
        let acknowledges = encoder.session.supportedOptions.contains(.acknowledgeReferences)
        var frames: [EncodedFrame] = []
        for number in numbers {
            var options = EncodeOptions()
            if acknowledges, frames.count > 3, let reference = frames[frames.count - 3].longTermReference {
                options.acknowledgedReferences = [reference]
            }
            frames.append(try #require(try encoder.encode(pattern.picture(number), number, options: options)))
        }
        return frames
    }

    @Test(
        "decodes cleanly from the next frame on, without a keyframe",
        arguments: backEnds(with: .longTermReferences), [1, 3])
    func recovery(backEnd: EncoderBackEnd, lostCount: Int) throws {
        let encoder = try makeEncoder(backEnd)
        let before = try encode(0..<40, with: encoder)
        _ = try encode(40..<40 + lostCount, with: encoder)
        var options = EncodeOptions(invalidateReferencesBackTo: frameTime(40))
        let next = 40 + lostCount
        let recovery = try #require(try encoder.encode(pattern.picture(next), next, options: options))
        options = EncodeOptions()
        let after = [recovery] + (try encode(next + 1..<next + 20, with: encoder))
        #expect(!after.contains { $0.isKeyframe })
        // The frames that the receiver has, without the lost ones, are sufficient: both decoders agree, and the
        // pictures are the encoder's. Errors that spread would show.
        let received = (before + after).map(\.sample)
        let pictures = try pictures(of: received)
        #expect(pictures.count == received.count)
        for (offset, picture) in pictures.suffix(after.count).enumerated() {
            #expect(signalToNoise(picture, pattern.picture(next + offset)) > 27, "frame \(offset) after the loss")
        }
        // Not every decoder finds a short-term reference beyond a gap in the frame numbers; a long-term one, each does.
        if encoder.session.supportedOptions.contains(.acknowledgeReferences) {
            #expect(try OpenH264Decoder.pictures(received).last == pictures.last.map(contents))
        }
    }

    /// The pictures that libavcodec shows. It may report the gap in frame numbers as an error, so its errors are
    /// ignored.
    private func pictures(of samples: [SampleBuffer]) throws -> [PixelBuffer] {
        let decoder = try TestDecoder(format: samples[0].format)
        var outcomes = samples.flatMap { decoder.decode($0) }
        outcomes += decoder.finishDelayedFrames()
        return outcomes.compactMap(\.picture?.pixelBuffer)
    }

    @Test("is done again when the recovery is lost too", arguments: backEnds(with: .longTermReferences))
    func lostRecovery(backEnd: EncoderBackEnd) throws {
        let encoder = try makeEncoder(backEnd)
        let before = try encode(0..<30, with: encoder)
        for number in 30..<32 {
            try encoder.encode(
                pattern.picture(number), number, options: EncodeOptions(invalidateReferencesBackTo: frameTime(30)))
        }
        let recovery = try #require(
            try encoder.encode(
                pattern.picture(32), 32, options: EncodeOptions(invalidateReferencesBackTo: frameTime(30))))
        let after = [recovery] + (try encode(33..<40, with: encoder))
        #expect(!after.contains { $0.isKeyframe })
        let pictures = try pictures(of: (before + after).map(\.sample))
        #expect(signalToNoise(try #require(pictures.last), pattern.picture(39)) > 27)
    }

    @Test("makes a keyframe if no reference is left", arguments: backEnds(with: .longTermReferences))
    func keyframe(backEnd: EncoderBackEnd) throws {
        let encoder = try makeEncoder(backEnd)
        _ = try encode(0..<10, with: encoder)
        // The keyframe itself was lost, or something long before.
        for (number, time) in [(10, frameTime(0)), (11, MediaTime(value: -100, timescale: 1))] {
            let frame = try encoder.encode(
                pattern.picture(number), number, options: EncodeOptions(invalidateReferencesBackTo: time))
            #expect(frame?.isKeyframe == true)
        }
        #expect(try encode(12..<15, with: encoder).allSatisfy { !$0.isKeyframe })
    }

    @Test("makes a keyframe if references are not kept", arguments: backEnds(with: .invalidateReferences))
    func withoutReferences(backEnd: EncoderBackEnd) throws {
        let encoder = try TestEncoder(backEnd, mediumPicture)
        _ = try encoder.encode(0..<5, of: pattern)
        let options = EncodeOptions(invalidateReferencesBackTo: frameTime(4))
        #expect(try encoder.encode(pattern.picture(5), 5, options: options)?.isKeyframe == true)
    }

    @Test("changes nothing where nothing was lost", arguments: backEnds(with: .longTermReferences))
    func nothingLost(backEnd: EncoderBackEnd) throws {
        let (encoder, other) = (try makeEncoder(backEnd), try makeEncoder(backEnd))
        for number in 0..<6 {
            let options = EncodeOptions(invalidateReferencesBackTo: frameTime(number))
            let frame = try encoder.encode(pattern.picture(number), number, options: options)
            #expect(frame?.sample.data == (try other.encode(pattern.picture(number), number))?.sample.data)
        }
    }

    @Test("goes back to a frame that was acknowledged", arguments: backEnds(with: .acknowledgeReferences))
    func acknowledged(backEnd: EncoderBackEnd) throws {
        let encoder = try makeEncoder(backEnd)
        let frames = try encode(0..<60, with: encoder)
        let marked = frames.filter { $0.longTermReference != nil }
        // The next is kept only once the last one is known to have arrived.
        #expect(marked.count >= 2)
        #expect(Set(marked.compactMap(\.longTermReference)).count == marked.count)
        let options = EncodeOptions(invalidateReferencesBackTo: frameTime(59))
        let recovery = try #require(try encoder.encode(pattern.picture(60), 60, options: options))
        #expect(recovery.statistics.usesLongTermReference)
        #expect(!recovery.isKeyframe)
        // Made up, outdated and repeated acknowledgements do no harm.
        var odd = EncodeOptions()
        odd.acknowledgedReferences =
            marked.compactMap(\.longTermReference) + [
                LongTermReference(frameNumber: 12345, keyframeID: 3),
                LongTermReference(frameNumber: -1, keyframeID: -1),
            ]
        #expect(try encoder.encode(pattern.picture(61), 61, options: odd) != nil)
    }

    @Test(
        "keeps no second reference while the first is not acknowledged",
        arguments: backEnds(with: .acknowledgeReferences))
    func unacknowledged(backEnd: EncoderBackEnd) throws {
        let encoder = try makeEncoder(backEnd)
        let frames = try encoder.encode(0..<60, of: pattern)
        #expect(frames.count { $0.longTermReference != nil } == 1)
        // The keyframe is still there to go back to.
        let options = EncodeOptions(invalidateReferencesBackTo: frameTime(1))
        let recovery = try #require(try encoder.encode(pattern.picture(60), 60, options: options))
        #expect(!recovery.isKeyframe)
        #expect(recovery.statistics.usesLongTermReference)
    }
}
