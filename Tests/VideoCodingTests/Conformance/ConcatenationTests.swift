import H264
import MediaCore
import Testing

@testable import VideoCoding

/// True if streams that change their format in the middle are decoded as one.
@Suite(
    "Conformance clips, one after the other",
    .enabled(if: ConformanceClip.folder != nil, "CONFRELAY_CONFORMANCE_DIR names no folder"))
struct ConcatenationTests {
    /// An output that a consumer sees.
    private enum Event: Equatable {
        case format(VideoFormatDescription)
        case picture(String)
        case other(String)
    }

    private static func events(of samples: [SampleBuffer]) -> [Event] {
        let pipeline = DecodingPipeline()
        var events: [Event] = []
        func take(_ event: DecodingEvent) {
            switch event {
            case .formatChanged(let format): events.append(.format(format))
            case .output(let output):
                events.append(
                    output.picture.map { .picture(PictureDigest.of($0.pixelBuffer)) } ?? .other("\(output.result)"))
            }
        }
        for sample in samples { pipeline.decode(sample) { take($0) } }
        pipeline.finishDelayedFrames { take($0) }
        return events
    }

    /// The first frames of each clip, and the events of each clip alone.
    private static let starts: Result<[(samples: [SampleBuffer], events: [Event])], any Error> = Result {
        try ConformanceClip.all.map { clip in
            let samples = try Array(clip.samples().prefix(4))
            return (samples, events(of: samples))
        }
    }

    /// The expected events of one clip after another: those of both, without a format event that changes nothing.
    private func expected(_ first: [Event], _ second: [Event]) -> [Event] {
        guard case .format(let next)? = second.first else { return first + second }
        let last = first.lazy.compactMap { if case .format(let format) = $0 { format } else { nil } }.last
        let isSame =
            last?.properties == next.properties && last?.sequenceParameterSets == next.sequenceParameterSets
        return first + (isSame ? second.dropFirst() : second[...])
    }

    @Test("in every pair, lose no frame and tell of each change", arguments: ConformanceClip.all)
    func pairs(first: ConformanceClip) throws {
        let starts = try Self.starts.get()
        let index = try #require(ConformanceClip.all.firstIndex { $0.name == first.name })
        for (clip, second) in zip(ConformanceClip.all, starts) {
            let seen = Self.events(of: starts[index].samples + second.samples)
            #expect(seen == expected(starts[index].events, second.events), "\(first.name), \(clip.name)")
        }
    }

    @Test("in full, in one stream, decode exactly")
    func all() throws {
        let pipeline = DecodingPipeline()
        let digests = ConformanceClip.all.map { _ in PictureDigest() }
        var counts: [Int] = []
        func take(_ event: DecodingEvent) {
            guard case .output(let output) = event else { return }
            guard let picture = output.picture else {
                Issue.record("\(output.result)")
                return
            }
            digests[Int(output.token.rawValue)].add(picture.pixelBuffer)
        }
        for (index, clip) in ConformanceClip.all.enumerated() {
            let samples = try clip.samples()
            counts.append(samples.count)
            for sample in samples { pipeline.decode(sample, token: FrameToken(UInt64(index))) { take($0) } }
        }
        pipeline.finishDelayedFrames { take($0) }
        #expect(digests.map { $0.finish() } == ConformanceClip.all.map(\.expectedDigest))
        #expect(pipeline.statistics.pictures == counts.reduce(0, +))
    }
}
