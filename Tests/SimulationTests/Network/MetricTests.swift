import CongestionControl
import MediaCore
import Testing

@testable import LinkEmulation
@testable import Simulation

@Suite("Figures of a flow")
struct MetricTests {
    private let second = 5

    /// Samples of 200 ms each, from the usable rate and the sent rate of each second.
    private func samples(_ seconds: [(capacity: Double, rate: Double)]) -> [FlowSample] {
        var samples: [FlowSample] = []
        for (capacity, rate) in seconds {
            for _ in 0..<second {
                samples.append(
                    FlowSample(
                        time: Double(samples.count + 1) / Double(second), target: rate, sendRate: rate,
                        receiveRate: min(rate, capacity), goodput: min(rate, capacity), capacity: capacity,
                        queueDelay: 0, senderDelay: 0, isActive: true))
            }
        }
        return samples
    }

    private func series(_ seconds: [(capacity: Double, rate: Double)]) -> FlowSeries {
        FlowSeries(samples: samples(seconds), sampleInterval: .milliseconds(200), maximum: .megabits(8))
    }

    private func metrics(_ seconds: [(capacity: Double, rate: Double)]) -> MetricValues {
        var values = MetricValues()
        series(seconds).addMetrics(to: &values)
        return values
    }

    @Test("a rise that ends before the window counts from the flow's start to its own end")
    func rampBeforeWindow() throws {
        let rates: [(capacity: Double, rate: Double)] =
            Array(repeating: (2, 0.5), count: 3) + Array(repeating: (2, 2), count: 10)
        var values = MetricValues()
        FlowSeries(
            samples: samples(rates), window: (6, 13), sampleInterval: .milliseconds(200), maximum: .megabits(8)
        ).addMetrics(to: &values)
        let ramp = try #require(values[.ramp])
        #expect(ramp > 3 && ramp <= 4)
        #expect(values[.goodput] == 2)
    }

    @Test("a drop that is answered late and too low has overshoot, settling time and undershoot")
    func drop() throws {
        // 2 Mbit/s to 1: sends 2 for two seconds, 0.4 for three, then 1.
        let rates: [(capacity: Double, rate: Double)] =
            Array(repeating: (2, 2), count: 10) + [(1, 2), (1, 2), (1, 0.4), (1, 0.4), (1, 0.4)]
            + Array(repeating: (1, 1), count: 10)
        let values = metrics(rates)
        // But for the first second: the overshoot of the second one.
        #expect(abs(try #require(values[.overshoot]) - 100) < 1e-6)
        // The window of a second that ends 0.6 s into the low rate is the first with at most 110 %.
        #expect(try #require(values[.settling]) == 2.6)
        #expect(abs(try #require(values[.undershoot]) - 60) < 1e-6)
        #expect(values[.recovery] == nil)
    }

    @Test("a rise that is followed after three seconds has a deficit over five and a time of recovery")
    func rise() throws {
        let rates: [(capacity: Double, rate: Double)] =
            Array(repeating: (1, 1), count: 10) + [(4, 1), (4, 1), (4, 1)] + Array(repeating: (4, 4), count: 10)
        let values = metrics(rates)
        // 3 of 4 missed for three seconds of five.
        #expect(abs(try #require(values[.recoveryDeficit]) - 45) < 1e-6)
        #expect(try #require(values[.recovery]) == 4)
        #expect(values[.settling] == nil)
    }

    @Test("each step of a script has a reaction, also one that neither halves nor doubles")
    func scriptedSteps() {
        let rates: [(capacity: Double, rate: Double)] =
            Array(repeating: (1, 1), count: 10) + Array(repeating: (1.5, 1.5), count: 10)
            + Array(repeating: (1.2, 1.5), count: 10)
        let steps = [0, 10, 20].map { LinkRate.Step(at: .seconds($0), rate: .megabits(1)) }
        let reactions = series(rates).reactions(to: steps)
        #expect(reactions.map(\.time) == [10, 20])
        #expect(reactions.map(\.isRise) == [true, false])
        #expect(reactions[0].recovery == 1)
        #expect(abs(reactions[1].overshoot - 25) < 1e-6)
        // It never came down.
        #expect(reactions[1].settling == 10)
    }

    @Test("a rate that swings oscillates, a steady one does not")
    func oscillations() throws {
        let steady = metrics(Array(repeating: (4, 2), count: 60))
        #expect(steady[.oscillations] == 0)
        #expect(steady[.rateVariation] == 0)
        let swinging = metrics((0..<60).map { (4, $0 / 5 % 2 == 0 ? 1 : 3) })
        #expect((9...13).contains(try #require(swinging[.oscillations])))
    }

    @Test("delays in bins are right to half a percent, and their mean and largest exactly")
    func histogram() {
        var histogram = DelayHistogram()
        var exact: [Int64] = []
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<5000 {
            let delay = Duration.microseconds(Int64.random(in: 0...2_000_000, using: &generator))
            histogram.add(delay)
            exact.append(delay.nanoseconds)
        }
        exact.sort()
        let real = DelayDistribution(sorted: exact)
        let counted = histogram.distribution
        #expect(counted.mean == real.mean)
        #expect(counted.maximum == real.maximum)
        for (one, other) in [
            (counted.median, real.median), (counted.percentile95, real.percentile95),
            (counted.percentile99, real.percentile99),
        ] {
            #expect(abs(one.seconds / other.seconds - 1) < 0.005)
        }
        #expect(histogram.percentiles.count == 101)
        #expect(histogram.percentiles.first == Double(exact[0]) / 1e6)
        #expect(histogram.percentiles == histogram.percentiles.sorted())
    }

    @Test("small delays are reported to the microsecond, and no samples give no delay")
    func smallDelays() {
        var histogram = DelayHistogram()
        #expect(histogram.percentiles.isEmpty)
        #expect(histogram.distribution == DelayDistribution())
        for value in [0, 3, 200] { histogram.add(.microseconds(value)) }
        #expect(histogram.distribution.median == .microseconds(3))
        histogram.add(.seconds(100_000))
        #expect(histogram.distribution.maximum == .seconds(100_000))
    }

    @Test("a perfect flow has a score of 100, and each part costs points by the formula")
    func score() {
        #expect(FlowScore.score(utilization: 1, queueingDelay95: 0, framesLateOrLost: 0) == 100)
        #expect(FlowScore.score(utilization: 0.5, queueingDelay95: 0, framesLateOrLost: 0) == 50)
        #expect(FlowScore.score(utilization: 1, queueingDelay95: 100, framesLateOrLost: 0) == 50)
        #expect(abs(FlowScore.score(utilization: 1, queueingDelay95: 0, framesLateOrLost: 0.1) - 81) < 1e-9)
        #expect(FlowScore.score(utilization: 1.2, queueingDelay95: -1, framesLateOrLost: 2) == 0)
    }

    @Test("a flow of which a part is not known has no score")
    func unknownScore() {
        var values = MetricValues()
        values[.utilization] = 60
        values[.queueingDelay95] = 100
        #expect(FlowScore.score(values) == nil)
        values[.framesLateOrLost] = 10
        #expect(abs((FlowScore.score(values) ?? 0) - 24.3) < 1e-9)
    }
}

@Suite("Notes taken of a media flow")
struct RecordingTests {
    private func recording(seconds: Int = 10) -> MediaFlowRecording {
        MediaFlowRecording(
            setting: .init(
                duration: .seconds(seconds), sampleInterval: .milliseconds(200), maximum: .megabits(8)))
    }

    private func values(_ recording: MediaFlowRecording) -> MetricValues {
        recording.report(keyframeCount: 0).metrics
    }

    private func time(_ milliseconds: Int) -> MonotonicInstant { .zero + .milliseconds(milliseconds) }

    /// A frame of two packets each 100 ms, of which some packets come after a delay.
    private func run(
        seconds: Int = 10, delay: (_ frame: Int, _ packet: Int) -> Int?, isPaused: (Int) -> Bool = { _ in false }
    ) -> MetricValues {
        var recording = recording(seconds: seconds)
        let size = DataSize(bytes: 1000)
        for index in 0..<seconds * 10 {
            let now = time(index * 100)
            if index > 0, index % 2 == 0 {
                recording.sample(
                    controller: .init(targetBitRate: .megabits(1)),
                    capacity: DataSize(bytes: 25_000), isActive: !isPaused(index), queueDelay: .zero,
                    pacerDelay: .zero, now: now)
            }
            guard !isPaused(index) else { continue }
            let frame = recording.nextFrame
            recording.frameEncoded(now: now)
            for _ in 0..<2 { recording.packetSent(size: size, frame: frame, kind: .media, now: now) }
            for delay in (0..<2).compactMap({ delay(index, $0) }) {
                recording.packetReceived(
                    size: size, media: .frame(frame), sendTime: now,
                    queueingDelay: .milliseconds(max(delay - 20, 0)), isMarked: false,
                    now: now + .milliseconds(delay))
                recording.frameDelivered(frame, now: now + .milliseconds(delay))
            }
        }
        return values(recording)
    }

    @Test("packets that never come are residual loss, those that come late are discarded")
    func residualLoss() throws {
        let values = run { frame, packet in frame % 10 == 3 && packet == 0 ? nil : frame % 10 == 5 ? 300 : 50 }
        // One packet of twenty is lost, two of the nineteen others are late.
        #expect(abs(try #require(values[.residualLoss]) - 5) < 1e-6)
        #expect(abs(try #require(values[.discarded]) - 100 * 2 / 19) < 0.5)
        #expect(abs(try #require(values[.framesLate]) - 10) < 1e-6)
        #expect(abs(try #require(values[.framesLost]) - 10) < 1e-6)
        #expect(abs(try #require(values[.framesLateOrLost]) - 20) < 1e-6)
        #expect(values[.packetsSent] == 200)
        #expect(values[.bytesReceived] == 190_000)
    }

    @Test("the delay of packets includes the way, that of queues does not")
    func packetDelay() throws {
        let values = run { _, _ in 50 }
        #expect(try #require(values[.packetDelayMean]) == 50)
        #expect(try #require(values[.queueingDelayMean]) == 30)
        #expect(try #require(values[.score]) > 0)
    }

    @Test("padding, retransmissions and feedback count in the measured time only")
    func window() {
        var recording = MediaFlowRecording(
            setting: .init(
                duration: .seconds(10), sampleInterval: .milliseconds(200), maximum: .megabits(8),
                window: .seconds(5)..<(.seconds(10))))
        let size = DataSize(bytes: 1000)
        for kind in [SimulatedMediaPacket.Role.padding, .retransmission] {
            recording.packetSent(size: size, frame: nil, kind: kind, now: time(1000))
        }
        recording.feedbackSent(size: size, now: time(1000))
        recording.frameEncoded(now: time(6000))
        recording.packetSent(size: size, frame: 0, kind: .media, now: time(6000))
        recording.packetReceived(
            size: size, media: .frame(0), sendTime: time(6000), queueingDelay: .zero, isMarked: false, now: time(6050))
        recording.feedbackSent(size: DataSize(bytes: 100), now: time(6100))
        let values = values(recording)
        #expect(values[.padding] == 0)
        #expect(values[.retransmitted] == 0)
        #expect(values[.feedback] == 10)
    }

    @Test("the last second is not judged, neither made frames nor skipped ones")
    func lastSecond() {
        var recording = recording(seconds: 2)
        for milliseconds in [0, 500] {
            let frame = recording.nextFrame
            recording.frameEncoded(now: time(milliseconds))
            recording.frameDelivered(frame, now: time(milliseconds + 50))
        }
        recording.frameSkipped(now: time(700))
        for milliseconds in stride(from: 1000, to: 2000, by: 100) { recording.frameSkipped(now: time(milliseconds)) }
        #expect(abs((values(recording)[.framesSkipped] ?? 0) - 100.0 / 3) < 1e-6)

        var short = self.recording(seconds: 1)
        short.frameSkipped(now: time(500))
        #expect(values(short)[.framesLateOrLost] == nil)
        #expect(values(short)[.score] == nil)
    }

    @Test("without a complete frame there is no delay of frames")
    func noCompleteFrame() throws {
        let values = run { _, packet in packet == 0 ? 50 : nil }
        #expect(try #require(values[.framesLost]) == 100)
        for metric in [Metric.frameDelayMedian, .frameDelay95, .frameDelay99] { #expect(values[metric] == nil) }
    }

    @Test("a pause of the sender is not a freeze, missing frames are")
    func freezes() throws {
        let paused = run(delay: { _, _ in 50 }, isPaused: { (30..<60).contains($0) })
        #expect(paused[.freezeCount] == 0)
        let gone = run { frame, _ in (30..<40).contains(frame) ? nil : 50 }
        #expect(gone[.freezeCount] == 1)
        #expect(abs(try #require(gone[.freezeTime]) - 1.1) < 1e-6)
        let dead = run { frame, _ in frame < 50 ? 50 : nil }
        #expect(dead[.freezeCount] == 1)
        #expect(abs(try #require(dead[.freezeTime]) - 4.05) < 0.01)
    }
}
