import H264
import MediaCore
import PixelTransfer
import Testing

@testable import VideoCoding

/// Decoding less, for pictures that are shown small or not at all.
@Suite struct DecodingEffortTests {
    private static let size = VideoDimensions(width: 320, height: 180)

    /// A stream whose every second frame is referred to by no other; keyframes as asked for.
    private func layeredStream(frames: Int, keyframes: Set<Int> = []) throws -> [SampleBuffer] {
        let encoder = try TestEncoder(.openH264, Self.size, bitRate: .kilobits(400)) { $0.temporalLayers = 2 }
        let pattern = MovingPattern(Self.size)
        return try (0..<frames).map { number in
            let options = EncodeOptions(forceKeyframe: keyframes.contains(number))
            let frame = try #require(try encoder.encode(pattern.picture(number), number, options: options))
            // Samples from a network state themselves whether others refer to them.
            return SampleBuffer(
                nalUnits: try frame.nalUnits, format: frame.sample.format,
                presentationTime: frame.sample.presentationTime)
        }
    }

    private func drops(_ outputs: [DecodeOutput]) -> [DropReason] {
        outputs.compactMap { if case .dropped(let reason) = $0.result { reason } else { nil } }
    }

    @Test("without frames that no other refers to, the others' pictures are the same")
    func references() throws {
        let samples = try layeredStream(frames: 12)
        let full = try TestDecoder(format: samples[0].format)
        let spared = try TestDecoder(format: samples[0].format)
        spared.session.setEffort(DecodingEffort(frames: .references))
        for sample in samples {
            let expected = try #require(full.decode(sample).last?.picture)
            let outputs = spared.decode(sample)
            #expect(outputs.count == 1)
            if sample.dependency.isDependedOn == false {
                #expect(drops(outputs) == [.skipped])
            } else {
                let picture = try #require(outputs.last?.picture)
                #expect(signalToNoise(picture.pixelBuffer, expected.pixelBuffer) == .infinity)
            }
        }
        #expect(spared.session.statistics.skipped == 6)
        #expect(spared.session.statistics.failed == 0)
    }

    @Test("pictures do not come further apart than a tenth of a second for it")
    func sensibleFrameRate() throws {
        let samples = try layeredStream(frames: 8)
        var gate = DecodingGate(frames: .references)
        // Ten frames a second: those that nothing refers to are wanted too.
        let verdicts = samples.enumerated().map { number, sample in
            var sample = sample
            sample.presentationTime = MediaTime(value: Int64(number), timescale: 10)
            return gate.admit(sample)
        }
        #expect(verdicts.allSatisfy { $0 == .decode })
    }

    @Test("in the mode for keyframes only keyframes are decoded, and after it nothing before the next keyframe")
    func keyframes() throws {
        let samples = try layeredStream(frames: 16, keyframes: [4, 12])
        let full = try TestDecoder(format: samples[0].format)
        let spared = try TestDecoder(format: samples[0].format)
        var shown: [Int] = []
        for (number, sample) in samples.enumerated() {
            if number == 1 { spared.session.setEffort(DecodingEffort(frames: .keyframes)) }
            if number == 8 { spared.session.setEffort(.full) }
            let expected = try #require(full.decode(sample).last?.picture)
            let outputs = spared.decode(sample)
            if let picture = outputs.last?.picture {
                shown.append(number)
                #expect(signalToNoise(picture.pixelBuffer, expected.pixelBuffer) == .infinity)
            } else {
                #expect(drops(outputs) == [number < 8 ? .skipped : .awaitingKeyframe])
            }
        }
        #expect(shown == [0, 4, 12, 13, 14, 15])
    }

    @Test("frames that nothing refers to may be left out without a keyframe afterwards")
    func onlyDisposable() throws {
        let samples = try layeredStream(frames: 4)
        var gate = DecodingGate()
        var verdicts = [gate.admit(samples[0])]
        gate.frames = .keyframes
        let disposable = try #require(samples.first { $0.dependency.isDependedOn == false })
        verdicts.append(gate.admit(disposable))
        #expect(!gate.lacksReferences)
        gate.frames = .all
        verdicts.append(gate.admit(samples[2]))
        #expect(verdicts == [.decode, .skip, .decode])
    }

    @Test("without keyframes, decoding can continue without the skipped frames")
    func goesOn() throws {
        let samples = try layeredStream(frames: 6)
        var gate = DecodingGate(frames: .keyframes)
        for sample in samples[0..<3] { _ = gate.admit(sample) }
        gate.frames = .all
        var verdicts = [gate.admit(samples[4])]
        gate.goOnWithoutReferences()
        verdicts.append(gate.admit(samples[5]))
        #expect(verdicts == [.awaitKeyframe, .decode])
    }

    @Test("the loop filter can be left out, and comes back with the next keyframe as it was")
    func loopFilter() throws {
        let samples = try layeredStream(frames: 10, keyframes: [6])
        let full = DecodingPipeline()
        let spared = DecodingPipeline()
        var ratios: [Double] = []
        for (number, sample) in samples.enumerated() {
            spared.effort = number < 6 ? DecodingEffort(loopFilter: .none) : .full
            var pictures: [PixelBuffer] = []
            for pipeline in [full, spared] {
                pipeline.decode(sample) { event in
                    if case .output(let output) = event, let picture = output.picture {
                        pictures.append(picture.pixelBuffer)
                    }
                }
            }
            try #require(pictures.count == 2)
            ratios.append(signalToNoise(pictures[1], pictures[0]))
        }
        #expect(ratios[0..<6].allSatisfy { $0 < 60 && $0 > 20 })
        #expect(ratios[6...].allSatisfy { $0 == .infinity })
    }

    @Test("without the loop filter on unreferenced frames only, errors do not add up")
    func loopFilterOnReferences() throws {
        let samples = try layeredStream(frames: 10)
        let full = try TestDecoder(format: samples[0].format)
        let spared = try TestDecoder(format: samples[0].format)
        spared.session.setEffort(DecodingEffort(loopFilter: .references))
        for sample in samples {
            let expected = try #require(full.decode(sample).last?.picture)
            let picture = try #require(spared.decode(sample).last?.picture)
            let isExact = signalToNoise(picture.pixelBuffer, expected.pixelBuffer) == .infinity
            #expect(isExact == (sample.dependency.isDependedOn != false))
        }
    }
}
