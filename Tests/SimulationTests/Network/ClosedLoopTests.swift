import CongestionControl
import MediaCore
import ResearchControllers
import Testing

@testable import LinkEmulation
@testable import Simulation

@Suite("Closed loop on virtual time")
struct ClosedLoopTests {
    private let limits = RateLimits(minimum: .kilobits(150), start: .kilobits(300), maximum: .megabits(4))

    private func run(
        _ link: LinkProfile, seconds: Int, seed: UInt64 = 1, feedback: MediaFlowParameters.Feedback = .transportWide,
        repair: MediaFlowParameters.Repair = .nack,
        events: [(time: Duration, event: MediaFlowParameters.Event)] = [], canPad: Bool = true
    ) throws -> MediaFlowReport {
        try simulate(
            MediaFlowParameters(
                encoder: EncoderModel.Configuration(minimum: limits.minimum, maximum: limits.maximum), repair: repair,
                feedback: feedback, events: events, canPad: canPad),
            limits: limits, link: link, duration: .seconds(seconds), seed: seed,
            controller: GoogleCongestionController(limits: limits, now: .zero))
    }

    private func meanTarget(_ report: MediaFlowReport, from start: Double, to end: Double) -> Double {
        let samples = report.samples.filter { $0.time.seconds > start && $0.time.seconds <= end }
        return samples.reduce(0) { $0 + $1.controller.targetBitRate.kilobitsPerSecond } / Double(max(samples.count, 1))
    }

    @Test(
        "a link that falls from 2.5 to 0.5 Mbit/s and rises to 2 is followed, with one keyframe at most",
        arguments: 1...5)
    func steps(seed: Int) throws {
        let link = LinkProfile(
            rate: .steps([
                .init(at: .zero, rate: .megabits(2.5)), .init(at: .seconds(20), rate: .kilobits(500)),
                .init(at: .seconds(40), rate: .megabits(2)),
            ]), delay: .milliseconds(30))
        let report = try run(link, seconds: 65, seed: UInt64(seed))
        let slow = report.samples.filter { $0.time > .seconds(20) && $0.time <= .seconds(40) }
        // The target over a second is below the new rate at last, and near it from then on.
        let targets: [Double] = slow.map { sample in
            let second = slow.filter { $0.time <= sample.time && sample.time - $0.time < .seconds(1) }
            return second.reduce(0) { $0 + $1.controller.targetBitRate.kilobitsPerSecond } / Double(second.count)
        }
        let settling = (targets.lastIndex { $0 > 550 } ?? -1) + 1
        let settled = try #require(targets[settling...].firstIndex { $0 <= 500 })
        #expect(slow[settled].time <= .seconds(23))
        let drained = try #require(
            slow.first { sample in
                slow.allSatisfy {
                    $0.time < sample.time || $0.time - sample.time > .seconds(2) || $0.queueDelay < .milliseconds(100)
                }
            })
        #expect(drained.time <= .seconds(23))
        // At 8 % a second, and slower near the capacity that is known.
        #expect(report.samples.contains { $0.time > .seconds(40) && $0.controller.targetBitRate >= .megabits(1.6) })
        #expect(meanTarget(report, from: 58, to: 65) > 1600)
        // The first keyframe of the stream, and one after a drop that cost a frame which was not repaired in time.
        #expect(report.keyframeCount <= 2)
    }

    @Test("a steady link is used well with a short queue", arguments: [500.0, 1000, 3000])
    func steady(kilobits: Double) throws {
        let report = try run(LinkProfile(rate: .fixed(.kilobits(kilobits)), delay: .milliseconds(30)), seconds: 60)
        #expect(try #require(report.metrics[.utilization]) > 75)
        #expect(try #require(report.metrics[.queueingDelay95]) < 170)
        #expect(try #require(report.metrics[.loss]) < 1)
        #expect(try #require(report.metrics[.framesLateOrLost]) < 5)
    }

    @Test("the start rate is left quickly when there is more")
    func ramp() throws {
        let report = try run(LinkProfile(rate: .fixed(.megabits(3)), delay: .milliseconds(30)), seconds: 10)
        #expect(meanTarget(report, from: 2, to: 3) > 2250)
    }

    @Test("30 % of random loss leave the flow alive at its minimum or above")
    func heavyLoss() throws {
        let report = try run(
            LinkProfile(rate: .fixed(.megabits(2)), delay: .milliseconds(30), loss: 0.3), seconds: 40)
        #expect(report.samples.allSatisfy { $0.controller.targetBitRate >= limits.minimum })
        #expect(try #require(report.metrics[.goodput]) > 0.09)
        #expect(report.samples.last?.controller.targetBitRate ?? .zero < .megabits(2))
    }

    @Test("2 % of random loss do not stop growth")
    func lightLoss() throws {
        let report = try run(
            LinkProfile(rate: .fixed(.megabits(2)), delay: .milliseconds(30), loss: 0.01), seconds: 60)
        #expect(try #require(report.metrics[.utilization]) > 70)
    }

    @Test("feedback that stops brings the rate down, and up again soon after it is back")
    func feedbackStops() throws {
        let report = try run(
            LinkProfile(rate: .fixed(.megabits(2)), delay: .milliseconds(30)), seconds: 60,
            events: [(.seconds(20), .feedbackLost(true)), (.seconds(28), .feedbackLost(false))])
        #expect(meanTarget(report, from: 15, to: 20) > 1200)
        // After three seconds of silence by a fifth each second.
        #expect(meanTarget(report, from: 26, to: 28) < meanTarget(report, from: 15, to: 20) * 0.5)
        #expect(meanTarget(report, from: 45, to: 60) > 1200)
    }

    @Test("an outage of two seconds is survived")
    func outage() throws {
        let link = LinkProfile(
            rate: .steps([
                .init(at: .zero, rate: .megabits(2)), .init(at: .seconds(20), rate: .zero),
                .init(at: .seconds(22), rate: .megabits(2)),
            ]), delay: .milliseconds(30), queue: .size(DataSize(bytes: 75_000)))
        let report = try run(link, seconds: 60)
        #expect(meanTarget(report, from: 40, to: 60) > 1200)
    }

    @Test("reports alone keep a flow within its link's bounds")
    func receiverReports() throws {
        let report = try run(
            LinkProfile(rate: .fixed(.megabits(1)), delay: .milliseconds(30), queue: .duration(.milliseconds(150))),
            seconds: 60, feedback: .receiverReports, repair: .none)
        #expect(meanTarget(report, from: 30, to: 60) > 600)
        #expect(meanTarget(report, from: 30, to: 60) < 1300)
    }

    @Test("jitter and reordering are not taken for congestion")
    func jitter() throws {
        let report = try run(
            LinkProfile(
                rate: .fixed(.megabits(2)), delay: .milliseconds(30), jitter: .milliseconds(10), reorders: true),
            seconds: 60)
        #expect(try #require(report.metrics[.utilization]) > 60)
    }

    @Test("an application that sends little keeps its estimate and uses it when it wants more")
    func applicationLimited() throws {
        let report = try run(
            LinkProfile(rate: .fixed(.megabits(2)), delay: .milliseconds(30)), seconds: 50,
            events: [
                (.seconds(15), .applicationLimit(.kilobits(100))), (.seconds(35), .applicationLimit(.megabits(4))),
            ])
        #expect(meanTarget(report, from: 30, to: 35) > 150)
        #expect(meanTarget(report, from: 40, to: 50) > 1200)
    }

    @Test("without padding the flow still grows")
    func noPadding() throws {
        let report = try run(
            LinkProfile(rate: .fixed(.megabits(2)), delay: .milliseconds(30)), seconds: 60, canPad: false)
        #expect(try #require(report.metrics[.utilization]) > 60)
        #expect(report.metrics[.padding] == 0)
    }

    @Test("a keyframe is made when asked for, and only then")
    func keyframes() throws {
        let report = try run(
            LinkProfile(rate: .fixed(.megabits(2)), delay: .milliseconds(30)), seconds: 10,
            events: [(.seconds(5), .keyframeRequest)])
        // The first of a stream is one, too.
        #expect(report.keyframeCount == 2)
    }

    @Test("the same configuration gives the same report")
    func deterministic() throws {
        let link = LinkProfile(
            rate: .fixed(.megabits(1)), delay: .milliseconds(30), jitter: .milliseconds(5), loss: 0.02)
        #expect(try run(link, seconds: 10) == run(link, seconds: 10))
        #expect(try run(link, seconds: 10, seed: 2) != run(link, seconds: 10))
    }

    @Test("a fixed rate is sent at any rate of the link")
    func fixedRate() throws {
        let report = try simulate(
            MediaFlowParameters(encoder: EncoderModel.Configuration(minimum: limits.minimum, maximum: limits.maximum)),
            limits: limits, link: LinkProfile(rate: .fixed(.kilobits(500)), delay: .milliseconds(30)),
            duration: .seconds(10), controller: FixedRateController(rate: .megabits(1)))
        #expect(try #require(report.metrics[.loss]) > 40)
        #expect(try #require(report.metrics[.utilization]) > 98)
    }
}
