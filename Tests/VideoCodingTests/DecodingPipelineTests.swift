import H264
import MediaCore
import NIOCore
import Testing

@testable import VideoCoding

@Suite("A decoding pipeline")
struct DecodingPipelineTests {
    private func run(_ samples: [SampleBuffer], with pipeline: DecodingPipeline) -> [DecodingEvent] {
        var events: [DecodingEvent] = []
        for sample in samples { pipeline.decode(sample) { events.append($0) } }
        pipeline.finishDelayedFrames { events.append($0) }
        return events
    }

    private func sizes(_ events: [DecodingEvent]) -> [String] {
        events.map { event in
            switch event {
            case .formatChanged(let format): "format \(format.dimensions)"
            case .output(let output): output.picture.map { "\($0.pixelBuffer.dimensions)" } ?? "\(output.result)"
            }
        }
    }

    @Test("reports each format before its first picture, larger or smaller")
    func formatChanges() throws {
        let avatar = VideoDimensions(width: 96, height: 160)
        let order = [smallPicture, avatar, mediumPicture, smallPicture, smallPicture]
        let samples = try order.flatMap { try makeStream(.openH264, $0, frames: 2).map(\.sample) }
        let events = run(samples, with: DecodingPipeline())
        #expect(
            sizes(events) == [
                "format 128x96", "128x96", "128x96", "format 96x160", "96x160", "96x160", "format 640x360", "640x360",
                "640x360", "format 128x96", "128x96", "128x96", "128x96", "128x96",
            ])
    }

    #if X264
        @Test("outputs the delayed pictures in order before it makes a new session")
        func recreation() throws {
            let main = try makeReorderedStream(frames: 11, dimensions: smallPicture)
            let high = try makeReorderedStream(frames: 11, dimensions: mediumPicture, profile: .high)
            let events = run(main + high, with: DecodingPipeline())
            let expected =
                ["format 128x96"] + Array(repeating: "128x96", count: 11) + ["format 640x360"]
                + Array(repeating: "640x360", count: 11)
            #expect(sizes(events) == expected)
            let times = events.compactMap { event -> MediaTime? in
                if case .output(let output) = event { output.presentationTime } else { nil }
            }
            #expect(times == (0..<11).map(frameTime) + (0..<11).map(frameTime))
        }
    #endif

    @Test("fails frames that no decoder supports, and continues after them")
    func rejection() throws {
        let small = try makeStream(.openH264, smallPicture, frames: 2).map(\.sample)
        let large = try makeStream(.openH264, mediumPicture, frames: 2).map(\.sample)
        let pipeline = DecodingPipeline(limits: DecodingLimits(maximumArea: 128 * 96))
        var results: [String] = []
        for sample in small + large + small {
            pipeline.decode(sample, token: FrameToken(7)) { event in
                guard case .output(let output) = event else { return }
                #expect(output.token.rawValue == 7)
                switch output.result {
                case .picture: results.append("picture")
                case .failed(.unsupportedFormat): results.append("unsupported")
                default: results.append("\(output.result)")
                }
            }
        }
        #expect(results == ["picture", "picture", "unsupported", "unsupported", "picture", "picture"])
        #expect(pipeline.statistics.failed == 2)
        #expect(pipeline.statistics.pictures == 4)
    }

    @Test("tells once of a frame that was left out, unless no other refers to it or the stream allows for it")
    func gap() throws {
        let frames = try makeStream(.openH264, smallPicture, frames: 12)
        func gaps(in samples: [SampleBuffer], without number: Int?, findsGaps: Bool = true) -> [Int] {
            let pipeline = DecodingPipeline(findsGaps: findsGaps)
            return samples.indices.filter { index in
                if index != number { pipeline.decode(samples[index]) { _ in } }
                return pipeline.takeLackOfReference()
            }
        }
        let samples = frames.map(\.sample)
        #expect(gaps(in: samples, without: nil).isEmpty)
        #expect(gaps(in: samples, without: 5) == [6])
        #expect(gaps(in: samples, without: 5, findsGaps: false).isEmpty)
        #expect(gaps(in: samples, without: 0).isEmpty, "it has not begun")
        let layers = try TestEncoder(.openH264, smallPicture) { $0.temporalLayers = 2 }
            .encode(0..<12, of: MovingPattern(smallPicture)).map(\.sample)
        let dispensable = try #require(layers.firstIndex { $0.dependency.isDependedOn == false })
        #expect(gaps(in: layers, without: dispensable).isEmpty)
        let sets = try samples[0].format.parameterSets.map { bytes in
            let unit = try #require(NALUnit(bytes))
            return GapTolerantParameterSet.rewrite(unit)?.bytes ?? bytes
        }
        let format = try VideoFormatDescription(h264ParameterSets: sets)
        let tolerant = samples.map { sample in
            var sample = sample
            sample.format = format
            return sample
        }
        #expect(gaps(in: tolerant, without: 5).isEmpty)
    }

    @Test("starts again at a keyframe after it was finished")
    func finished() throws {
        let samples = try makeStream(.openH264, smallPicture, frames: 3).map(\.sample)
        let pipeline = DecodingPipeline()
        _ = run(samples, with: pipeline)
        let events = run([samples[1]] + samples, with: pipeline)
        #expect(sizes(events) == ["dropped(VideoCoding.DropReason.awaitingKeyframe)", "128x96", "128x96", "128x96"])
    }
}

@Suite("Requirements for decoded pictures")
struct DecodingAttributesTests {
    private func decode(
        _ attributes: PixelBufferAttributes
    ) throws -> (pictures: [PixelBuffer], statistics: DecodingStatistics) {
        let samples = try makeStream(.openH264, smallPicture, frames: 4).map(\.sample)
        let decoder = try TestDecoder(format: samples[0].format, attributes: attributes)
        let pictures = samples.flatMap { decoder.decode($0) }.compactMap { $0.picture?.pixelBuffer }
        #expect(pictures.count == samples.count)
        return (pictures, decoder.session.statistics)
    }

    @Test(
        "costs no copy where the decoder's own frames are like that",
        arguments: [
            .any, PixelBufferAttributes(formats: [.i420]), PixelBufferAttributes(formats: [.nv12, .i420]),
            PixelBufferAttributes(dimensions: smallPicture),
        ])
    func satisfied(attributes: PixelBufferAttributes) throws {
        let (pictures, statistics) = try decode(attributes)
        #expect(statistics.pixelTransfers == 0)
        #expect(statistics.pictures == 4)
        #expect(pictures.allSatisfy { $0.format == .i420 })
    }

    @Test(
        "is made so, and counted, where they are not",
        arguments: [
            PixelBufferAttributes(formats: [.nv12]), PixelBufferAttributes(formats: [.bgra, .nv12]),
            PixelBufferAttributes(dimensions: VideoDimensions(width: 64, height: 48)),
        ])
    func converted(attributes: PixelBufferAttributes) throws {
        let (pictures, statistics) = try decode(attributes)
        #expect(statistics.pixelTransfers == 4)
        #expect(pictures.allSatisfy { attributes.isSatisfied(by: $0) })
    }
}
