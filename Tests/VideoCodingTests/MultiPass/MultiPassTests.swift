import MediaCore
import PixelTransfer
import Testing

@testable import VideoCoding

@Suite("Several passes", .enabled(if: EncoderBackEnd.x264.isBuilt))
struct MultiPassTests {
    private let bitRate = BitRate.kilobits(150)

    @Test("come within one per cent of the target, with a better picture than a single pass of the same size")
    func targetAndQuality() throws {
        let recording = try Recording(bitRate: bitRate)
        let results = try recording.makeAllPasses()
        let last = try #require(results.last)
        let target = Double(bitRate.bitsPerSecond) / 8 * Double(VaryingPattern.frameCount) / 30
        #expect(abs(Double(last.targetSize.bytes) - target) <= 1)
        #expect(recording.silo.size == last.size)
        #expect(abs(Double(recording.silo.size.bytes) / target - 1) < 0.01)
        let similarity = try recording.similarity()
        let single = try singlePass(
            atLeast: last.size, from: bitRate, dimensions: VaryingPattern.dimensions,
            frameCount: VaryingPattern.frameCount
        ) { VaryingPattern().picture($0) }
        #expect(PictureQuality.decibels(ssim: similarity) > PictureQuality.decibels(ssim: single.similarity) + 0.2)
        // x264 measures in other windows.
        #expect(abs(last.structuralSimilarity - similarity) < 0.02)
    }

    @Test("ask for parts of the recording, which come nearer to the plan, and leave the rest as it was")
    func subRanges() throws {
        let recording = try Recording(bitRate: bitRate)
        var previous = try recording.makePass()
        #expect(previous.framesEncoded == VaryingPattern.frameCount)
        var partialPasses = 0
        while previous.furtherPassesRequested {
            let numbers = recording.numbersOfNextPass
            let ranges = recording.session.timeRangesForNextPass
            let before = try recording.silo.samples(order: .presentation)
            let result = try recording.makePass()
            let after = try recording.silo.samples(order: .presentation)
            #expect(result.framesEncoded == numbers.count)
            #expect(after.count == VaryingPattern.frameCount)
            if numbers.count < VaryingPattern.frameCount { partialPasses += 1 }
            for (old, new) in zip(before, after)
            where !ranges.contains(where: { $0.contains(old.presentationTime) }) {
                #expect(old.data == new.data)
            }
            // Nearer to the target, or better.
            #expect(
                deviation(result) < max(deviation(previous), 0.01)
                    || result.structuralSimilarity > previous.structuralSimilarity)
            previous = result
        }
        #expect(partialPasses > 0)
        #expect(recording.session.timeRangesForNextPass.isEmpty)
    }

    private func deviation(_ result: PassResult) -> Double {
        abs(Double(result.size.bytes) / Double(result.targetSize.bytes) - 1)
    }

    @Test("splice groups that decode as they do on their own")
    func splicing() throws {
        let recording = try Recording(bitRate: bitRate)
        let results = try recording.makeAllPasses()
        #expect(results.count > 1)
        let samples = try recording.silo.samples()
        #expect(Set(samples.map(\.format.parameterSets)).count == 1)
        let whole = try libavcodecPictures(samples).map(contents)
        #expect(whole.count == VaryingPattern.frameCount)
        // Each group by a decoder that has seen nothing else.
        let starts = samples.indices.filter { samples[$0].isSync }
        #expect(starts.count > 3)
        var alone: [[UInt8]] = []
        for (start, end) in zip(starts, starts.dropFirst() + [samples.count]) {
            alone += try libavcodecPictures(Array(samples[start..<end])).map(contents)
        }
        #expect(whole == alone)
    }

    @Test("make streams that libavcodec and OpenH264 decode alike")
    func decoders() throws {
        let recording = try Recording(bitRate: bitRate) { properties in
            properties.allowFrameReordering = false
            properties.profileLevel = H264ProfileLevel(.constrainedBaseline)
        }
        #expect(try recording.makeAllPasses().count > 1)
        #expect(try expectEqualPictures(recording.silo.samples()) == VaryingPattern.frameCount)
    }

    @Test("give each frame one output with its token, and times that fit together")
    func outputs() throws {
        let recording = try Recording(bitRate: bitRate)
        var wantsMore = true
        while wantsMore {
            let numbers = recording.numbersOfNextPass
            wantsMore = try recording.makePass().furtherPassesRequested
            let outputs = recording.takeOutputs()
            #expect(outputs.map { Int($0.token.rawValue) }.sorted() == numbers)
            #expect(outputs.allSatisfy { $0.presentationTime == frameTime(Int($0.token.rawValue)) })
            #expect(outputs.allSatisfy { $0.frame != nil })
        }
        let samples = try recording.silo.samples()
        let decodeTimes = try samples.map { try #require($0.decodeTime) }
        #expect(zip(decodeTimes, decodeTimes.dropFirst()).allSatisfy { $0 < $1 })
        #expect(zip(samples, decodeTimes).allSatisfy { $1 <= $0.presentationTime })
    }

    @Test("tell consecutive keyframes apart, and keep them in later passes")
    func consecutiveKeyframes() throws {
        let forced: Set<Int> = [40, 41, 42, 100, 101]
        let recording = try Recording(bitRate: bitRate)
        var wantsMore = try recording.makePass(forcingKeyframes: forced).furtherPassesRequested
        while wantsMore { wantsMore = try recording.makePass().furtherPassesRequested }
        let samples = try recording.silo.samples()
        let keyTimes = Set(samples.filter(\.isSync).map(\.presentationTime))
        #expect(forced.allSatisfy { keyTimes.contains(frameTime($0)) })
        try expectDistinctKeyframes(samples)
        #expect(try libavcodecPictures(samples).count == VaryingPattern.frameCount)
    }

    @Test("go over real content", .enabled(if: clipFolder != nil, "CONFRELAY_CONFORMANCE_DIR names no folder of clips"))
    func realContent() throws {
        let clips = try ["BA_MW_D.264", "MR1_BT_A.h264", "SVA_CL1_E.264", "MR2_TANDBERG_E.264"].map { try RealClip($0) }
        let pictures = clips.flatMap { $0.pictures.prefix(45) }
        let rate = BitRate.kilobits(90)
        let recording = try Recording(
            bitRate: rate, dimensions: clips[0].dimensions, frameCount: pictures.count, picture: { pictures[$0] })
        let last = try #require(try recording.makeAllPasses().last)
        #expect(deviation(last) < 0.01)
        let single = try singlePass(
            atLeast: last.size, from: rate, dimensions: clips[0].dimensions, frameCount: pictures.count
        ) { pictures[$0] }
        #expect(try recording.similarity() > single.similarity)
    }
}
