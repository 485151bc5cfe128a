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
        let pictures = try libavcodecPictures(stream.map(\.sample))
        try #require(pictures.count == 12)
        for number in [0, 11] {
            for plane in 0..<3 {
                #expect(signalToNoise(pictures[number], pattern.picture(number), plane: plane) > 30)
            }
        }
    }

    @Test("makes streams that two decoders see the same way", arguments: backEnds, H264Profile.allCases)
    func decoders(backEnd: EncoderBackEnd, profile: H264Profile) throws {
        let stream = try makeStream(backEnd, mediumPicture, frames: 12, profile: profile)
        #expect(try expectEqualPictures(stream.map(\.sample)) == 12)
    }

    @Test("makes one slice a frame, with parameter sets in the format alone", arguments: backEnds)
    func layout(backEnd: EncoderBackEnd) throws {
        for (number, frame) in try makeStream(backEnd, smallPicture, frames: 5).enumerated() {
            let types = try frame.nalUnits.map(\.type)
            #expect(types == [number == 0 ? .codedSliceIDR : .codedSliceNonIDR])
            #expect(frame.isKeyframe == (number == 0))
            #expect(frame.sample.isSync == (number == 0))
            #expect(frame.size.bytes == frame.sample.data.count)
            let sets = frame.sample.format.parameterSets.compactMap { NALUnit($0)?.type }
            #expect(sets == [.sequenceParameterSet, .pictureParameterSet])
        }
    }

    @Test("makes an IDR picture with the same parameter sets when asked", arguments: backEnds)
    func forcedKeyframe(backEnd: EncoderBackEnd) throws {
        let encoder = try TestEncoder(backEnd, smallPicture, bitRate: .kilobits(300))
        let pattern = MovingPattern(smallPicture)
        let before = try encoder.encode(0..<10, of: pattern)
        let forced = try encoder.encode(10..<11, of: pattern, forcingKeyframes: true)[0]
        let after = try encoder.encode(11..<15, of: pattern)
        #expect(forced.isKeyframe)
        #expect(try forced.nalUnits.map(\.type) == [.codedSliceIDR])
        #expect(forced.sample.format == before[0].sample.format)
        #expect(!after.contains { $0.isKeyframe })
        // A receiver that joins at the forced frame sees all from there on.
        #expect(try libavcodecPictures(([forced] + after).map(\.sample)).count == 5)
    }

    @Test("makes no keyframe of its own at a change of scene", arguments: backEnds)
    func sceneChange(backEnd: EncoderBackEnd) throws {
        let encoder = try TestEncoder(backEnd, mediumPicture)
        var pattern = MovingPattern(mediumPicture)
        _ = try encoder.encode(0..<10, of: pattern)
        pattern.scene = 5
        let frames = try encoder.encode(10..<15, of: pattern)
        #expect(!frames.contains { $0.isKeyframe })
    }

    @Test("counts its outputs", arguments: backEnds)
    func statistics(backEnd: EncoderBackEnd) throws {
        let encoder = try TestEncoder(backEnd, smallPicture, bitRate: .kilobits(300))
        let frames = try encoder.encode(0..<6, of: MovingPattern(smallPicture))
        let counts = encoder.session.statistics
        #expect(counts.framesEncoded == 6)
        #expect(counts.keyframes == 1)
        #expect(counts.encodedSize == frames.size)
        #expect(counts.largestDeltaFrame == frames.dropFirst().map(\.size).max())
        #expect(counts.pixelTransfers == 0)
    }

    @Test("reports for each frame how it was made", arguments: backEnds)
    func frameStatistics(backEnd: EncoderBackEnd) throws {
        let frames = try makeStream(backEnd, mediumPicture, frames: 5)
        #expect(frames.map(\.statistics.type) == [.idr, .p, .p, .p, .p])
        #expect(frames.map(\.statistics.referenceCount) == [0, 1, 1, 1, 1])
        for frame in frames {
            #expect(frame.statistics.isReference)
            #expect(frame.statistics.temporalLayer == 0)
            #expect(frame.statistics.encodingTime > .zero)
            #expect((10...51).contains(try #require(frame.statistics.averageQP)))
            #expect(!frame.statistics.usesLongTermReference)
            #expect(frame.sample.dependency == FrameDependency(isDependedOn: true, temporalLayer: 0))
        }
    }

    @Test("reports a coarser QP at a lower rate", arguments: backEnds)
    func qp(backEnd: EncoderBackEnd) throws {
        func mean(_ bitRate: BitRate) throws -> Int {
            let frames = try makeStream(backEnd, mediumPicture, frames: 20, bitRate: bitRate)
            return frames.suffix(10).compactMap(\.statistics.averageQP).reduce(0, +) / 10
        }
        #expect(try mean(.kilobits(400)) > mean(.megabits(3)) + 5)
    }

    @Test("encodes the smallest size", arguments: backEnds)
    func smallestSize(backEnd: EncoderBackEnd) throws {
        let stream = try makeStream(backEnd, VideoDimensions(width: 16, height: 16), frames: 3, bitRate: .kilobits(50))
        #expect(try libavcodecPictures(stream.map(\.sample)).count == 3)
    }

    @Test("reads the picture where it lies and lets it go", arguments: backEnds)
    func keepsNoPicture(backEnd: EncoderBackEnd) throws {
        let encoder = try TestEncoder(backEnd, smallPicture)
        let pool = PixelBufferPool(format: .i420, dimensions: smallPicture)
        for number in 0..<5 {
            var buffer = pool.makeBuffer()
            for plane in 0..<3 {
                buffer.withMutablePlane(plane) { bytes, _ in
                    _ = bytes.initializeMemory(as: UInt8.self, repeating: UInt8(100 + number))
                }
            }
            try encoder.encode(buffer.freeze(), number)
        }
        #expect(pool.allocationCount == 1)
    }

    @Test("converts pictures of formats that the encoder does not read, and only those", arguments: backEnds)
    func conversion(backEnd: EncoderBackEnd) throws {
        let pattern = MovingPattern(mediumPicture)
        for format in [PixelFormat.i420, .nv12] {
            let encoder = try TestEncoder(backEnd, mediumPicture, bitRate: .megabits(4))
            let picture = interleaved(pattern.picture(0), as: format)
            let frame = try #require(try encoder.encode(picture, 0))
            let isNative = EncoderCapabilities.of(backEnd).pixelFormats.contains(format)
            #expect(encoder.session.statistics.pixelTransfers == (isNative ? 0 : 1))
            let decoded = try libavcodecPictures([frame.sample])
            for plane in 0..<3 { #expect(signalToNoise(decoded[0], pattern.picture(0), plane: plane) > 30) }
        }
    }

    /// The picture itself, or with its chroma in one plane.
    private func interleaved(_ picture: PixelBuffer, as format: PixelFormat) -> PixelBuffer {
        guard format == .nv12 else { return picture }
        var buffer = MutablePixelBuffer(format: .nv12, dimensions: picture.dimensions)
        buffer.withMutablePlanes { target in
            picture.withPlanes { source in
                for row in 0..<source[0].rows {
                    (target[0].base + row * target[0].stride)
                        .copyMemory(from: source[0].base + row * source[0].stride, byteCount: picture.dimensions.width)
                }
                for row in 0..<source[1].rows {
                    let pairs = (target[1].base + row * target[1].stride).assumingMemoryBound(to: UInt8.self)
                    let blue = (source[1].base + row * source[1].stride).assumingMemoryBound(to: UInt8.self)
                    let red = (source[2].base + row * source[2].stride).assumingMemoryBound(to: UInt8.self)
                    for column in 0..<picture.dimensions.width / 2 {
                        pairs[2 * column] = blue[column]
                        pairs[2 * column + 1] = red[column]
                    }
                }
            }
        }
        return buffer.freeze()
    }

    @Test("refuses pictures of another size or other than it was told to expect", arguments: backEnds)
    func wrongPicture(backEnd: EncoderBackEnd) throws {
        let properties = CompressionProperties(averageBitRate: .megabits(1))
        let encoder = try TestEncoder(
            backEnd, smallPicture, properties, sourceAttributes: PixelBufferAttributes(formats: [.i420]))
        #expect(throws: VideoCodingError.dimensionsMismatch(picture: mediumPicture, session: smallPicture)) {
            try encoder.encode(MovingPattern(mediumPicture).picture(0), 0)
        }
        let other = MutablePixelBuffer(format: .nv12, dimensions: smallPicture).freeze()
        #expect(throws: VideoCodingError.pixelFormatNotSupported(.nv12)) { try encoder.encode(other, 0) }
        // Neither was taken.
        #expect(try encoder.encode(MovingPattern(smallPicture).picture(0), 0) != nil)
        #expect(encoder.takeOutputs().isEmpty)
    }

    @Test("says of another size that it needs a new session, or that there is none", arguments: backEnds)
    func otherSizes(backEnd: EncoderBackEnd) throws {
        let session = try TestEncoder(backEnd, smallPicture).session
        #expect(session.canAccept(smallPicture) == .accept)
        guard case .recreate = session.canAccept(mediumPicture) else {
            Issue.record("\(session.canAccept(mediumPicture))")
            return
        }
        for (width, height) in [(127, 96), (8, 8), (16384, 16), (0, 0), (Int.max, Int.max)] {
            guard case .reject = session.canAccept(VideoDimensions(width: width, height: height)) else {
                Issue.record("\(width)x\(height) is not rejected")
                continue
            }
        }
    }

    @Test("is not made for odd sizes and sizes out of range", arguments: backEnds)
    func invalidSizes(backEnd: EncoderBackEnd) throws {
        for (width, height) in [(127, 96), (128, 95), (0, 0), (-16, 16), (Int.max, Int.max), (8, 8), (16384, 16)] {
            #expect {
                _ = try TestEncoder(backEnd, VideoDimensions(width: width, height: height))
            } throws: { error in
                if case .invalidConfiguration = error as? VideoCodingError { true } else { false }
            }
        }
    }
}
