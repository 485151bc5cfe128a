import H264
import MediaCore
import NIOCore
import Testing

@testable import VideoCoding

@Suite("A compression session")
struct CompressionTests {
    @Test("gives pictures back over 30 dB", arguments: backEnds, H264Profile.allCases)
    func roundTrip(backEnd: EncoderBackEnd, profile: H264Profile) throws {
        let pattern = MovingPattern(mediumPicture)
        let stream = try makeStream(backEnd, mediumPicture, frames: 12, profile: profile, bitRate: .megabits(4))
        let decoder = try TestDecoder(format: stream[0].sample.format)
        for (number, frame) in stream.enumerated() {
            let outcomes = decoder.decode(frame.sample)
            try #require(outcomes.count == 1)
            let decoded = try #require(outcomes[0].picture)
            #expect(decoded.presentationTime == frameTime(number))
            #expect(decoded.pixelBuffer.dimensions == mediumPicture)
            #expect(!decoded.isConcealed)
            guard number % 11 == 0 else { continue }
            for plane in 0..<3 {
                #expect(signalToNoise(decoded.pixelBuffer, pattern.picture(number), plane: plane) > 30)
            }
        }
    }

    @Test("makes the profile asked for, within the level asked for", arguments: backEnds, H264Profile.allCases)
    func profile(backEnd: EncoderBackEnd, profile: H264Profile) throws {
        let session = try CompressionSession(
            backEnd: backEnd,
            configuration: CompressionConfiguration(
                dimensions: mediumPicture, averageBitRate: .megabits(1), profile: profile, levelIDC: 31))
        let profileLevel = session.format.profileLevel
        #expect(profileLevel.profileIDC == profile.profileIDC)
        #expect(profileLevel.levelIDC <= 31)
        #expect(H264Profile(profileLevel: profileLevel) == profile)
        if profile == .constrainedBaseline { #expect(profileLevel.constraintFlags & 0x40 != 0) }
        #expect(session.format.dimensions == mediumPicture)
        #expect(session.format.reorderDepth == 0)
        #expect(session.format.maximumReferenceFrames == 1)
    }

    @Test("makes one slice a frame, with parameter sets in the format alone", arguments: backEnds)
    func layout(backEnd: EncoderBackEnd) throws {
        for (number, frame) in try makeStream(backEnd, smallPicture, frames: 5).enumerated() {
            let types = try frame.nalUnits.map(\.type)
            #expect(types == [number == 0 ? .codedSliceIDR : .codedSliceNonIDR])
            #expect(frame.isKeyFrame == (number == 0))
            #expect(frame.sample.isSync == (number == 0))
            #expect(frame.size.bytes == frame.sample.data.count)
            let sets = frame.sample.format.parameterSets.compactMap { NALUnit($0)?.type }
            #expect(sets == [.sequenceParameterSet, .pictureParameterSet])
        }
    }

    @Test("cuts a picture into slices of a size where one is set", arguments: backEnds)
    func sliceSize(backEnd: EncoderBackEnd) throws {
        let session = try CompressionSession(
            backEnd: backEnd,
            configuration: CompressionConfiguration(
                dimensions: mediumPicture, averageBitRate: .megabits(2), maximumSliceSize: DataSize(bytes: 1200)))
        let frames = try encode(0..<10, of: MovingPattern(mediumPicture), with: session)
        #expect(try frames[0].nalUnits.count > 1)
        let decoder = try TestDecoder(format: frames[0].sample.format)
        for frame in frames {
            let units = try frame.nalUnits
            #expect(units.count > 1 || frame.size.bytes <= 1204)
            #expect(units.allSatisfy { $0.isVCL && $0.count <= 1200 })
            #expect(decoder.decode(frame.sample).first?.picture?.isConcealed == false)
        }
    }

    @Test("makes an IDR picture with the same parameter sets when asked", arguments: backEnds)
    func forcedKeyFrame(backEnd: EncoderBackEnd) throws {
        let session = try CompressionSession(
            backEnd: backEnd,
            configuration: CompressionConfiguration(dimensions: smallPicture, averageBitRate: .kilobits(300)))
        let pattern = MovingPattern(smallPicture)
        let before = try encode(0..<10, of: pattern, with: session)
        let forced = try encode(10..<11, of: pattern, with: session, forcingKeyFrames: true)[0]
        let after = try encode(11..<15, of: pattern, with: session)
        #expect(forced.isKeyFrame)
        #expect(try forced.nalUnits.map(\.type) == [.codedSliceIDR])
        #expect(forced.sample.format == before[0].sample.format)
        #expect(!after.contains { $0.isKeyFrame })
        // A receiver that joins at the forced frame sees all from there on.
        let decoder = try TestDecoder(format: forced.sample.format)
        #expect(([forced] + after).allSatisfy { decoder.decode($0.sample).first?.picture != nil })
    }

    @Test("makes no key frame of its own at a change of scene", arguments: backEnds)
    func sceneChange(backEnd: EncoderBackEnd) throws {
        let session = try CompressionSession(
            backEnd: backEnd,
            configuration: CompressionConfiguration(dimensions: mediumPicture, averageBitRate: .megabits(1)))
        var pattern = MovingPattern(mediumPicture)
        _ = try encode(0..<10, of: pattern, with: session)
        pattern.scene = 5
        let frames = try encode(10..<15, of: pattern, with: session)
        #expect(!frames.contains { $0.isKeyFrame })
    }

    @Test("makes periodic key frames where an interval is set", arguments: backEnds)
    func keyFrameInterval(backEnd: EncoderBackEnd) throws {
        let session = try CompressionSession(
            backEnd: backEnd,
            configuration: CompressionConfiguration(
                dimensions: smallPicture, averageBitRate: .kilobits(300), maximumKeyFrameInterval: 4))
        let frames = try encode(0..<12, of: MovingPattern(smallPicture), with: session)
        #expect(frames.map(\.isKeyFrame) == (0..<12).map { $0 % 4 == 0 })
    }

    @Test("counts what it made", arguments: backEnds)
    func statistics(backEnd: EncoderBackEnd) throws {
        let session = try CompressionSession(
            backEnd: backEnd,
            configuration: CompressionConfiguration(dimensions: smallPicture, averageBitRate: .kilobits(300)))
        let frames = try encode(0..<6, of: MovingPattern(smallPicture), with: session)
        let counts = session.statistics
        #expect(counts.framesEncoded == 6)
        #expect(counts.keyFrames == 1)
        #expect(counts.encodedSize.bytes == frames.reduce(0) { $0 + $1.size.bytes })
        #expect(counts.largestDeltaFrame == frames.dropFirst().map(\.size).max())
    }

    @Test("refuses odd sizes, sizes and rates out of range and unknown levels", arguments: backEnds)
    func invalidConfigurations(backEnd: EncoderBackEnd) throws {
        var configuration = CompressionConfiguration(dimensions: smallPicture, averageBitRate: .megabits(1))
        let valid = configuration
        let sizes = [(127, 96), (128, 95), (0, 0), (-16, 16), (Int.max, Int.max), (8, 8), (16384, 16)]
        for (width, height) in sizes {
            configuration.dimensions = VideoDimensions(width: width, height: height)
            expectInvalid(configuration, backEnd)
        }
        configuration = valid
        for rate in [0, -1, 61, Int.max] {
            configuration.expectedFrameRate = rate
            expectInvalid(configuration, backEnd)
        }
        configuration = valid
        configuration.levelIDC = 33
        expectInvalid(configuration, backEnd)
        configuration = valid
        configuration.latencyBudget = .zero
        expectInvalid(configuration, backEnd)
        configuration = valid
        configuration.maximumKeyFrameInterval = 0
        expectInvalid(configuration, backEnd)
    }

    private func expectInvalid(_ configuration: CompressionConfiguration, _ backEnd: EncoderBackEnd) {
        #expect {
            _ = try CompressionSession(backEnd: backEnd, configuration: configuration)
        } throws: { error in
            if case .invalidConfiguration = error as? VideoCodingError { true } else { false }
        }
    }

    @Test("refuses a size or frame rate beyond the level", arguments: backEnds)
    func beyondLevel(backEnd: EncoderBackEnd) throws {
        for (width, height, rate) in [(1920, 1080, 30), (1280, 720, 60)] {
            let configuration = CompressionConfiguration(
                dimensions: VideoDimensions(width: width, height: height), expectedFrameRate: rate,
                averageBitRate: .megabits(1), levelIDC: 31)
            #expect {
                _ = try CompressionSession(backEnd: backEnd, configuration: configuration)
            } throws: { error in
                if case .levelExceeded(levelIDC: 31, _) = error as? VideoCodingError { true } else { false }
            }
        }
    }

    @Test("encodes the smallest size", arguments: backEnds)
    func smallestSize(backEnd: EncoderBackEnd) throws {
        let stream = try makeStream(backEnd, VideoDimensions(width: 16, height: 16), frames: 3, bitRate: .kilobits(50))
        let decoder = try TestDecoder(format: stream[0].sample.format)
        #expect(stream.allSatisfy { decoder.decode($0.sample).first?.picture != nil })
    }

    @Test("refuses pictures that are not I420 of its size", arguments: backEnds)
    func wrongPicture(backEnd: EncoderBackEnd) throws {
        let session = try CompressionSession(
            backEnd: backEnd,
            configuration: CompressionConfiguration(dimensions: smallPicture, averageBitRate: .megabits(1)))
        #expect(throws: VideoCodingError.dimensionsMismatch(picture: mediumPicture, session: smallPicture)) {
            try session.encode(MovingPattern(mediumPicture).picture(0), presentationTime: .zero)
        }
        let other = MutablePixelBuffer(format: .nv12, dimensions: smallPicture).freeze()
        #expect(throws: VideoCodingError.pixelFormatNotSupported(.nv12)) {
            try session.encode(other, presentationTime: .zero)
        }
    }

    @Test("reads the picture where it lies and lets it go", arguments: backEnds)
    func keepsNoPicture(backEnd: EncoderBackEnd) throws {
        let session = try CompressionSession(
            backEnd: backEnd,
            configuration: CompressionConfiguration(dimensions: smallPicture, averageBitRate: .megabits(1)))
        let pool = PixelBufferPool(format: .i420, dimensions: smallPicture)
        for number in 0..<5 {
            var buffer = pool.makeBuffer()
            for plane in 0..<3 {
                buffer.withMutablePlane(plane) { bytes, _ in
                    _ = bytes.initializeMemory(as: UInt8.self, repeating: UInt8(100 + number))
                }
            }
            _ = try session.encode(buffer.freeze(), presentationTime: frameTime(number))
        }
        #expect(pool.allocationCount == 1)
    }
}
