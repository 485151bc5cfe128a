import H264
import MediaCore
import NIOCore
import Testing

@testable import VideoCoding

/// The effect of properties on the stream, seen in the stream itself.
@Suite("In the stream")
struct StreamPropertyTests {
    private func parameterSets(
        _ format: VideoFormatDescription
    ) throws -> (sequence: SequenceParameterSet, picture: PictureParameterSet) {
        let units = format.parameterSets.compactMap(NALUnit.init)
        return (
            try SequenceParameterSet(parsing: try #require(units.first)),
            try PictureParameterSet(parsing: try #require(units.last))
        )
    }

    @Test("the profile and the level are those asked for", arguments: backEnds, H264Profile.allCases)
    func profile(backEnd: EncoderBackEnd, profile: H264Profile) throws {
        for levelIDC: UInt8 in [31, 40] {
            let encoder = try TestEncoder(backEnd, mediumPicture) {
                $0.profileLevel = H264ProfileLevel(profile, level: H264Level(levelIDC: levelIDC))
            }
            let frame = try encoder.encode(0..<1, of: MovingPattern(mediumPicture))[0]
            let format = frame.sample.format
            #expect(encoder.session.format == format)
            #expect(format.profileLevel.profileIDC == profile.profileIDC)
            #expect(format.profileLevel.levelIDC == levelIDC)
            // constraint_set1_flag tells Constrained Baseline from Baseline.
            if format.profileLevel.profileIDC == 66 {
                #expect((format.profileLevel.constraintFlags & 0x40 != 0) == (profile == .constrainedBaseline))
            }
            #expect(format.dimensions == mediumPicture)
            #expect(format.reorderDepth == 0)
            #expect(format.maximumReferenceFrames == 1)
        }
    }

    @Test("the entropy mode is that asked for", arguments: backEnds, [H264Profile.main, .high])
    func entropyMode(backEnd: EncoderBackEnd, profile: H264Profile) throws {
        for mode in EntropyMode.allCases {
            let encoder = try TestEncoder(backEnd, smallPicture, profile: profile) { $0.entropyMode = mode }
            let frames = try encoder.encode(0..<3, of: MovingPattern(smallPicture))
            #expect(try parameterSets(frames[0].sample.format).picture.usesCABAC == (mode == .cabac))
            #expect(frames[0].sample.format.profileLevel.profileIDC == profile.profileIDC)
            #expect(try expectEqualPictures(frames.map(\.sample)) == 3)
        }
    }

    @Test("pixel aspect and colour are returned if they are set", arguments: backEnds)
    func usability(backEnd: EncoderBackEnd) throws {
        let colour = ColourDescription(
            primaries: 9, transferCharacteristics: 14, matrixCoefficients: 9, isFullRange: true)
        let encoder = try TestEncoder(backEnd, smallPicture) {
            $0.pixelAspectRatio = VideoDimensions(width: 16, height: 11)
            $0.colour = colour
        }
        try encoder.session.prepareToEncodeFrames()
        #expect(encoder.session.format?.pixelAspectRatio == VideoDimensions(width: 16, height: 11))
        #expect(encoder.session.format?.colour == colour)
        let plain = try TestEncoder(backEnd, smallPicture)
        try plain.session.prepareToEncodeFrames()
        #expect(plain.session.format?.pixelAspectRatio == VideoDimensions(width: 1, height: 1))
        #expect(plain.session.format?.colour == .unspecified)
    }

    @Test(
        "a decoded picture has the colour that its encoder was given", arguments: backEnds,
        [
            ColourDescription.bt601, .bt709, .unspecified,
            ColourDescription(primaries: 6, transferCharacteristics: 6, matrixCoefficients: 6, isFullRange: true),
            ColourDescription(primaries: 1, transferCharacteristics: 13, matrixCoefficients: 1, isFullRange: true),
        ])
    func decodedColour(backEnd: EncoderBackEnd, colour: ColourDescription) throws {
        let encoder = try TestEncoder(backEnd, smallPicture) { $0.colour = colour }
        let sample = try encoder.encode(0..<1, of: MovingPattern(smallPicture))[0].sample
        #expect(try parameterSets(sample.format).sequence.usability?.videoSignal?.colour ?? .unspecified == colour)
        let decoder = try TestDecoder(format: sample.format)
        let outputs = decoder.decode(sample) + decoder.finishDelayedFrames()
        #expect(outputs.compactMap(\.picture).map(\.pixelBuffer.attachments.colour) == [colour])
    }

    @Test(
        "red, green and blue are written as the colour that is stated", arguments: backEnds,
        [ColourDescription.bt601, .bt709])
    func convertedColour(backEnd: EncoderBackEnd, colour: ColourDescription) throws {
        let red: [UInt8] = [0, 0, 255, 255]
        var drawn = MutablePixelBuffer(format: .bgra, dimensions: smallPicture)
        drawn.withMutablePlane(0) { bytes, _ in
            for index in bytes.indices { bytes[index] = red[index % 4] }
        }
        let picture = drawn.freeze()
        let encoder = try TestEncoder(backEnd, smallPicture) { $0.colour = colour }
        let sample = try #require(try encoder.encode(picture, 0)).sample
        let decoder = try TestDecoder(format: sample.format)
        let outputs = decoder.decode(sample) + decoder.finishDelayedFrames()
        let decoded = try #require(outputs.compactMap(\.picture).first).pixelBuffer
        // 16, and 219 times the weight of red.
        let luma = decoded.withPlane(0) { bytes, _ in Int(bytes[0]) }
        #expect(abs(luma - (colour == .bt709 ? 63 : 81)) <= 3)
    }

    @Test("slices are no larger than asked for", arguments: backEnds(with: .sliceMaxBytes), [600, 1200])
    func sliceSize(backEnd: EncoderBackEnd, size: Int) throws {
        let encoder = try TestEncoder(backEnd, mediumPicture, bitRate: .megabits(2), profile: .high) {
            $0.sliceMaxBytes = DataSize(bytes: size)
        }
        let frames = try encoder.encode(0..<10, of: MovingPattern(mediumPicture))
        #expect(try frames[0].nalUnits.count > 1)
        for frame in frames {
            let units = try frame.nalUnits
            #expect(units.count > 1 || frame.size.bytes <= size + 4)
            #expect(units.allSatisfy { $0.isVCL && $0.count <= size })
        }
        #expect(try expectEqualPictures(frames.map(\.sample)) == 10)
    }

    @Test("slices may be as small as stated, also with a given QP", arguments: backEnds(with: .sliceMaxBytes))
    func leastSliceSize(backEnd: EncoderBackEnd) throws {
        let support = CompressionSession.supportedProperties(of: backEnd)[.sliceMaxBytes]
        guard case .sizes(let sizes)? = support?.range else { return #expect(support == nil) }
        let encoder = try TestEncoder(backEnd, mediumPicture) {
            ($0.sliceMaxBytes, $0.rateControlMode) = (sizes.lowerBound, .quality)
        }
        let samples = try encoder.encode(0..<3, of: MovingPattern(mediumPicture)).map(\.sample)
        #expect(try libavcodecPictures(samples).count == 3)
    }

    @Test("keyframes come as often as asked for", arguments: backEnds(with: .maxKeyframeInterval))
    func keyframeInterval(backEnd: EncoderBackEnd) throws {
        let encoder = try TestEncoder(backEnd, smallPicture, bitRate: .kilobits(300)) { $0.maxKeyframeInterval = 4 }
        let pattern = MovingPattern(smallPicture)
        let frames = try encoder.encode(0..<10, of: pattern)
        #expect(frames.map(\.isKeyframe) == (0..<10).map { $0 % 4 == 0 })
        // The interval changes while encoding; it counts from the forced keyframe.
        try encoder.session.set(\.maxKeyframeInterval, to: 6)
        let forced = try encoder.encode(10..<11, of: pattern, forcingKeyframes: true)
        let later = forced + (try encoder.encode(11..<24, of: pattern))
        #expect(later.map(\.isKeyframe) == (0..<14).map { $0 % 6 == 0 })
    }

    @Test("keyframes come after the time asked for", arguments: backEnds(with: .maxKeyframeIntervalDuration))
    func keyframeDuration(backEnd: EncoderBackEnd) throws {
        let encoder = try TestEncoder(backEnd, smallPicture, bitRate: .kilobits(300)) {
            $0.maxKeyframeIntervalDuration = .milliseconds(200)
        }
        let pattern = MovingPattern(smallPicture)
        // Frames of uneven lengths: 30, 10 and 30 a second.
        var keyframes: [Int] = []
        for number in [0, 1, 2, 3, 4, 5, 6, 7, 10, 13, 16, 17, 18, 19, 20] {
            let frame = try #require(try encoder.encode(pattern.picture(number), number))
            if frame.isKeyframe { keyframes.append(number) }
        }
        #expect(keyframes == [0, 6, 13, 19])
    }

    @Test("keyframes come as often as asked for where frames wait", arguments: backEnds(with: .realTime, "false"))
    func delayedKeyframeInterval(backEnd: EncoderBackEnd) throws {
        let encoder = try TestEncoder(backEnd, smallPicture, profile: .high) {
            $0.realTime = false
            $0.allowFrameReordering = true
            $0.maxKeyframeInterval = 12
        }
        var pattern = MovingPattern(smallPicture)
        for number in 0..<60 {
            if number == 30 { pattern.scene = 4 }
            try encoder.session.encode(pattern.picture(number), presentationTime: frameTime(number))
        }
        encoder.session.completeFrames()
        let frames = encoder.takeOutputs().compactMap(\.frame)
        let keyframes = frames.filter(\.isKeyframe).map { Int($0.sample.presentationTime.value / 3000) }
        #expect(zip(keyframes, keyframes.dropFirst()).allSatisfy { $1 - $0 <= 12 }, "\(keyframes)")
        #expect(frames.count == 60)
    }

    @Test("the picture is renewed without keyframes", arguments: backEnds(with: .intraRefreshPeriod))
    func intraRefresh(backEnd: EncoderBackEnd) throws {
        let encoder = try TestEncoder(backEnd, mediumPicture, bitRate: .megabits(2)) { $0.intraRefreshPeriod = 15 }
        let frames = try encoder.encode(0..<50, of: MovingPattern(mediumPicture))
        #expect(frames.map(\.isKeyframe) == (0..<50).map { $0 == 0 })
        // Each round begins with a recovery point message (D.2.8), which says when the picture is whole.
        let messages = try frames.map { try $0.nalUnits.contains { $0.type == .sei } }
        #expect(messages.filter(\.self).count >= 2)
        // A receiver that lost the beginning sees the same picture in the end.
        let whole = try libavcodecPictures(frames.map(\.sample))
        let decoder = try OpenH264Decoder.pictures(frames.map(\.sample))
        #expect(decoder.last == whole.last.map(contents))
        let start = try #require(messages.dropFirst().firstIndex(of: true))
        let joined = try lateJoiner(frames, from: start)
        let last = try #require(joined.last)
        #expect(signalToNoise(last, try #require(whole.last)) > 45)
    }

    @Test(
        "a decoder that continues at a recovery point shows the right picture when it reports one",
        arguments: backEnds(with: .intraRefreshPeriod))
    func recoveryPoint(backEnd: EncoderBackEnd) throws {
        let encoder = try TestEncoder(backEnd, mediumPicture, bitRate: .megabits(2)) { $0.intraRefreshPeriod = 15 }
        let frames = try encoder.encode(0..<60, of: MovingPattern(mediumPicture))
        let points = try frames.map { RecoveryPoint(of: try $0.nalUnits) }
        let whole = try libavcodecPictures(frames.map(\.sample))
        let starts = points.indices.filter { $0 > 4 && $0 < 30 && points[$0] != nil }
        #expect(!starts.isEmpty)
        for start in starts {
            let count = try #require(points[start]).frameCount
            #expect((1...15).contains(count))
            let joined = try lateJoiner(frames, from: start)
            // The first frame's picture comes first.
            for number in start + count..<frames.count {
                #expect(contents(joined[number - start + 1]) == contents(whole[number]), "\(number) from \(start)")
            }
        }
        // No picture stands out as a keyframe does.
        let sizes = frames.dropFirst(10).map(\.size.bytes)
        let mean = sizes.reduce(0, +) / sizes.count
        #expect(try #require(sizes.max()) < 2 * mean, "\(sizes)")
    }

    /// The pictures of a receiver that got the first frame and then nothing before frame `start`.
    private func lateJoiner(_ frames: [EncodedFrame], from start: Int) throws -> [PixelBuffer] {
        let decoder = try TestDecoder(format: frames[0].sample.format)
        var pictures: [PixelBuffer] = []
        for frame in frames[..<1] + frames[start...] {
            for outcome in decoder.decode(frame.sample) {
                if let picture = outcome.picture { pictures.append(picture.pixelBuffer) }
            }
        }
        return pictures
    }

    @Test("upper temporal layers can be left out", arguments: backEnds(with: .temporalLayers), [2, 3])
    func temporalLayers(backEnd: EncoderBackEnd, layers: Int) throws {
        let needsReordering = backEnds(with: .allowFrameReordering).contains(backEnd)
        let encoder = try TestEncoder(backEnd, mediumPicture, bitRate: .megabits(2), profile: .main) {
            $0.temporalLayers = layers
            $0.realTime = !needsReordering
            $0.allowFrameReordering = needsReordering
        }
        let pattern = MovingPattern(mediumPicture)
        for number in 0..<33 {
            try encoder.session.encode(pattern.picture(number), presentationTime: frameTime(number))
        }
        encoder.session.completeFrames()
        let frames = encoder.takeOutputs().compactMap(\.frame)
        try #require(frames.count == 33)
        let all = try libavcodecPictures(frames.map(\.sample)).map(contents)
        // OpenH264's decoder rounds otherwise in macroblocks of B-frames that are divided.
        if !needsReordering { #expect(all == (try OpenH264Decoder.pictures(frames.map(\.sample)))) }
        let times = frames.map(\.sample.presentationTime).sorted()
        for highest in 0..<layers {
            let kept = frames.filter { $0.statistics.temporalLayer <= highest }
            // Each layer doubles the rate.
            let share = 1 << (layers - 1 - highest)
            #expect(abs(kept.count - 33 / share) <= 1, "\(kept.count) in layers up to \(highest)")
            // The remaining frames decode to the same pictures.
            let pictures = try libavcodecPictures(kept.map(\.sample)).map(contents)
            for (picture, time) in zip(pictures, kept.map(\.sample.presentationTime).sorted()) {
                #expect(picture == all[try #require(times.firstIndex(of: time))])
            }
            if !needsReordering { #expect(pictures == (try OpenH264Decoder.pictures(kept.map(\.sample)))) }
        }
        // A decoder can tell frames that were left out from lost ones.
        if layers > 2, !needsReordering {
            let set = try #require(
                frames[0].sample.format.parameterSets.compactMap(NALUnit.init).first {
                    $0.type == .sequenceParameterSet
                })
            #expect(try SequenceParameterSet(parsing: set).allowsFrameNumberGaps)
        }
        // No frame refers to the highest layer.
        for frame in frames {
            let isReference = try frame.nalUnits.allSatisfy { $0.referenceIDC > 0 }
            #expect(isReference == frame.statistics.isReference)
            if frame.statistics.temporalLayer == layers - 1 { #expect(!isReference) }
            if frame.statistics.temporalLayer == 0 { #expect(isReference) }
            #expect(frame.sample.dependency.temporalLayer == frame.statistics.temporalLayer)
        }
    }

    @Test("regions of interest are better or worse than the rest", arguments: backEnds(with: .regionsOfInterest))
    func regions(backEnd: EncoderBackEnd) throws {
        let pattern = MovingPattern(mediumPicture)
        let left = PixelRect(x: 0, y: 0, width: 320, height: 360)
        func quality(_ offset: Int) throws -> (left: Double, right: Double) {
            let encoder = try TestEncoder(backEnd, mediumPicture, bitRate: .megabits(1.5), profile: .high)
            var options = EncodeOptions()
            if offset != 0 { options.regionsOfInterest = [RegionOfInterest(rect: left, qpOffset: offset)] }
            let frames = try (0..<12).map { number in
                try #require(try encoder.encode(pattern.picture(number), number, options: options))
            }
            let picture = try #require(try libavcodecPictures(frames.map(\.sample)).last)
            let right = PixelRect(x: 320, y: 0, width: 320, height: 360)
            return (
                signalToNoise(picture.cut(left), pattern.picture(11).cut(left)),
                signalToNoise(picture.cut(right), pattern.picture(11).cut(right))
            )
        }
        let (plain, better, worse) = (try quality(0), try quality(-8), try quality(8))
        #expect(better.left - better.right > plain.left - plain.right + 2)
        #expect(worse.left - worse.right < plain.left - plain.right - 2)
    }

    @Test("regions of interest outside the picture change nothing", arguments: backEnds(with: .regionsOfInterest))
    func outsideRegions(backEnd: EncoderBackEnd) throws {
        let encoder = try TestEncoder(backEnd, smallPicture)
        var options = EncodeOptions()
        let extremes = [Int.min, -100, 0, 5000, Int.max]
        options.regionsOfInterest = extremes.flatMap { x in
            extremes.map { y in
                RegionOfInterest(rect: PixelRect(x: x, y: y, width: x, height: y), qpOffset: x)
            }
        }
        for number in 0..<3 {
            #expect(try encoder.encode(MovingPattern(smallPicture).picture(number), number, options: options) != nil)
        }
    }

    @Test("a region of interest without an end reaches to the picture's", arguments: backEnds(with: .regionsOfInterest))
    func endlessRegion(backEnd: EncoderBackEnd) throws {
        func frames(_ rect: PixelRect) throws -> [BlockBuffer] {
            let encoder = try TestEncoder(backEnd, smallPicture)
            var options = EncodeOptions()
            options.regionsOfInterest = [RegionOfInterest(rect: rect, qpOffset: 8)]
            return try (0..<3).map { number in
                let picture = MovingPattern(smallPicture).picture(number)
                return try #require(try encoder.encode(picture, number, options: options)).sample.data
            }
        }
        let whole = try frames(PixelRect(x: 48, y: 32, width: 80, height: 64))
        #expect(try frames(PixelRect(x: 48, y: 32, width: .max, height: .max)) == whole)
        #expect(try frames(PixelRect(x: 48, y: 32, width: 0, height: 0)) != whole)
    }

    @Test("pictures are as good as asked for in quality mode", arguments: backEnds(with: .rateControlMode, "quality"))
    func quality(backEnd: EncoderBackEnd) throws {
        func encode(_ quality: Double) throws -> (size: Int, decibels: Double) {
            let encoder = try TestEncoder(backEnd, mediumPicture, profile: .high) {
                $0.rateControlMode = .quality
                $0.quality = quality
            }
            let pattern = MovingPattern(mediumPicture)
            let frames = try encoder.encode(0..<8, of: pattern)
            let picture = try #require(try libavcodecPictures(frames.map(\.sample)).last)
            return (frames.size.bytes, signalToNoise(picture, pattern.picture(7)))
        }
        let (low, middle, high) = (try encode(0.4), try encode(0.6), try encode(0.8))
        #expect(Double(middle.size) > 1.5 * Double(low.size))
        #expect(Double(high.size) > 1.5 * Double(middle.size))
        #expect(middle.decibels > low.decibels + 2)
        #expect(high.decibels > middle.decibels + 2)
    }

    @Test("a capped rate is not spent on better pictures than asked for", arguments: backEnds)
    func cappedQuality(backEnd: EncoderBackEnd) throws {
        func size(_ quality: Double) throws -> Int {
            let encoder = try TestEncoder(backEnd, mediumPicture, bitRate: .megabits(4)) { $0.quality = quality }
            return try encoder.encode(0..<10, of: MovingPattern(mediumPicture)).size.bytes
        }
        #expect(try Double(size(0.4)) < 0.5 * Double(size(1)))
    }

    @Test("a constant rate is filled up", arguments: backEnds(with: .rateControlMode, "constant"))
    func constantRate(backEnd: EncoderBackEnd) throws {
        let encoder = try TestEncoder(backEnd, smallPicture, bitRate: .kilobits(800)) {
            $0.rateControlMode = .constant
            $0.profileLevel.level = H264Level(levelIDC: 30)
        }
        // A picture that does not change takes next to nothing.
        let picture = MovingPattern(smallPicture).picture(0)
        let frames = try (0..<60).map { try #require(try encoder.encode(picture, $0)) }
        let rate = BitRate(Array(frames.dropFirst(30)).size, over: .seconds(1))
        #expect(abs(rate / .kilobits(800) - 1) < 0.05, "\(rate)")
        #expect(try libavcodecPictures(frames.map(\.sample)).count == 60)
    }
}

extension PixelBuffer {
    /// A copy of a part of an I420 picture.
    fileprivate func cut(_ rect: PixelRect) -> PixelBuffer {
        var result = MutablePixelBuffer(
            format: .i420, dimensions: VideoDimensions(width: rect.width, height: rect.height))
        for plane in 0..<3 {
            let divisor = plane == 0 ? 1 : 2
            withPlane(plane) { source, sourceStride in
                result.withMutablePlane(plane) { target, stride in
                    for row in 0..<rect.height / divisor {
                        let begin = (rect.y / divisor + row) * sourceStride + rect.x / divisor
                        UnsafeMutableRawBufferPointer(rebasing: target[(row * stride)...])
                            .copyMemory(
                                from: UnsafeRawBufferPointer(rebasing: source[begin..<begin + rect.width / divisor]))
                    }
                }
            }
        }
        return result.freeze()
    }
}
