import MediaCore
import Testing

@testable import confbench

@Suite("What a viewer of a capacity conference got")
struct ViewerAnalysisTests {
    private let frame = Duration.seconds(1) / Workload.frameRate

    private func instant(_ number: Int) -> MonotonicInstant { .zero + .seconds(10) + frame * number }

    @Test("the latency is from the last sending of a frame to the first picture that shows it")
    func latency() {
        let shown = FrameMark(sender: 3, number: 7)
        let other = FrameMark(sender: 3, number: 8)
        var meter = LatencyMeter(sent: [
            shown: [.zero + .seconds(1), .zero + .seconds(6), .zero + .seconds(11)], other: [.zero + .seconds(2)],
        ])
        // The clip went round: the frame of 6 s is shown, and still shown a moment later.
        meter.showed(shown, in: 0, at: .zero + .seconds(6) + .milliseconds(40), isCounted: true)
        meter.showed(shown, in: 0, at: .zero + .seconds(6) + .milliseconds(73), isCounted: true)
        #expect(meter.latencies == [0: [.milliseconds(40)]])
        // Another tile shows it later.
        meter.showed(shown, in: 1, at: .zero + .seconds(6) + .milliseconds(60), isCounted: true)
        #expect(meter.latencies[1] == [.milliseconds(60)])
        #expect(meter.quantile(0.95) == 60 && meter.quantile(0.95, of: 0) == 40)
        // Nothing counts that was sent too long ago, never, or is shown outside the measurement.
        meter.showed(other, in: 0, at: .zero + .seconds(7), isCounted: true)
        meter.showed(FrameMark(sender: 9, number: 9), in: 0, at: .zero + .seconds(7), isCounted: true)
        meter.showed(shown, in: 0, at: .zero + .seconds(11) + .milliseconds(9), isCounted: false)
        #expect(meter.latencies.values.map(\.count) == [1, 1])
    }

    @Test("quantiles are latencies that occurred")
    func quantiles() {
        var meter = LatencyMeter(sent: [:])
        #expect(meter.quantile(0.5) == nil)
        let marks = (0..<20).map { FrameMark(sender: 0, number: $0) }
        meter = LatencyMeter(sent: Dictionary(uniqueKeysWithValues: marks.map { ($0, [.zero]) }))
        for mark in marks {
            meter.showed(mark, in: 0, at: .zero + .milliseconds(100 - mark.number), isCounted: true)
        }
        #expect(meter.quantile(0.5) == 90)
        #expect(meter.quantile(0.95) == 99)
        #expect(meter.quantile(1) == 100)
    }

    @Test("a composed call has its delay, its rate and the quality of its tiles")
    func composed() throws {
        let directory = try ScratchDirectory()
        defer { directory.remove() }
        let clips = try Footage(files: [], in: directory).clips(senders: 4)
        #expect(clips.allSatisfy { $0.samples.count == Footage.period })
        let sources = try clips.map { try $0.pictures() }
        func analysis(quantizer: Int, numberShown: (Int) -> Int) throws -> ViewerAnalysis {
            let (log, grid) = (FrameLog(), try MarkedGrid(count: 4, quantizer: quantizer))
            for number in 0..<30 {
                for sender in clips.indices {
                    log.sent(FrameMark(sender: sender, number: number), at: instant(number))
                }
                let pictures = sources.compactMap { $0[numberShown(number)] }
                let sample = try #require(try grid.encode(pictures, number: number))
                log.received(sample, at: instant(number) + .milliseconds(25))
            }
            return try ViewerAnalysis(
                of: log, clips: clips, tileCount: 4, interval: instant(15)...instant(30))
        }
        let fine = try analysis(quantizer: 20) { $0 }
        #expect(fine.readableTileShare == 1)
        #expect(fine.medianLatencyMilliseconds == 25)
        #expect(fine.p95LatencyMilliseconds == 25)
        let coarse = try analysis(quantizer: 36) { max(0, $0 - 1) }
        // A frame later, and coarser.
        #expect(abs((coarse.medianLatencyMilliseconds ?? 0) - 58.3) < 0.1)
        #expect((fine.peakSignalToNoiseRatio ?? 0) > (coarse.peakSignalToNoiseRatio ?? 100) + 5)
        #expect((fine.structuralSimilarity ?? 0) > (coarse.structuralSimilarity ?? 1))
        #expect(fine.kilobitsPerSecond > coarse.kilobitsPerSecond * 2)
    }

    @Test("a sender's own packets have no losses, and need no infinite number")
    func passedOn() throws {
        let directory = try ScratchDirectory()
        defer { directory.remove() }
        let clips = try Footage(files: [], in: directory).clips(senders: 1)
        let log = FrameLog()
        for sample in clips[0].samples {
            let number = TestClip.number(of: sample)
            log.sent(FrameMark(sender: 0, number: number), at: instant(number))
            log.received(sample, at: instant(number) + .milliseconds(3))
        }
        let analysis = try ViewerAnalysis(of: log, clips: clips, tileCount: 1, interval: instant(0)...instant(150))
        #expect(analysis.medianLatencyMilliseconds == 3)
        #expect(analysis.peakSignalToNoiseRatio == 100)
        #expect(analysis.structuralSimilarity == 1)
        // The clip's own rate.
        #expect((400...600).contains(analysis.kilobitsPerSecond))
    }
}
