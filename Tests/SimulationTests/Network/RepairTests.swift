import CongestionControl
import MediaCore
import ResearchControllers
import Testing

@testable import LinkEmulation
@testable import Simulation

@Suite("Repair of lost packets")
struct RepairTests {
    private func run(
        _ repair: MediaFlowParameters.Repair, loss: LossModel, policer: Policer? = nil, feedbackLoss: LossModel = 0,
        delay: Int64 = 20, rate: BitRate = .megabits(1), seconds: Int = 20,
        events: [(time: Duration, event: MediaFlowParameters.Event)] = [], adapts: Bool = false
    ) throws -> ScenarioResult {
        let limits = RateLimits(minimum: .kilobits(150), start: rate, maximum: .megabits(4))
        var parameters = MediaFlowParameters(
            encoder: EncoderModel.Configuration(minimum: limits.minimum, maximum: limits.maximum), repair: repair)
        parameters.events = events
        let scenario = Scenario(
            name: "repair", duration: .seconds(seconds),
            links: [
                .init(
                    name: "forward",
                    profile: LinkProfile(
                        rate: .fixed(.megabits(4)), delay: .milliseconds(delay), loss: loss, policer: policer)),
                .init(name: "backward", profile: LinkProfile(delay: .milliseconds(delay), loss: feedbackLoss)),
            ],
            flows: [
                .init(
                    name: "video", kind: .media(parameters, limits), forward: ["forward"], backward: ["backward"])
            ])
        var simulation = try ScenarioSimulation(scenario: scenario, seed: 3) { context in
            adapts
                ? SimulatedController(ConfrelayCongestionController(limits: context.limits, now: context.start))
                : SimulatedController(FixedRateController(rate: rate))
        }
        return simulation.run(controllerName: adapts ? "confrelay" : "fixed")
    }

    @Test("lost packets are requested and sent again; without repair they stay lost")
    func residualLoss() throws {
        let repaired = try run(.nack, loss: 0.05).metrics
        #expect(try #require(repaired[.residualLoss]) < 0.1)
        #expect((4...8).contains(try #require(repaired[.retransmitted])))
        #expect(try #require(repaired[.loss]) > 3)
        let lost = try run(.none, loss: 0.05).metrics
        #expect(abs(try #require(lost[.residualLoss]) - #require(lost[.loss])) < 0.5)
        #expect(try #require(lost[.residualLoss]) > 3)
        #expect(lost[.retransmitted] == 0)
    }

    @Test("a repaired frame is complete a request and an answer later")
    func repairTakesARoundTrip() throws {
        let clean = try run(.nack, loss: 0, delay: 50).metrics
        let repaired = try run(.nack, loss: 0.02, delay: 50).metrics
        let expected = try #require(clean[.frameDelay99]) + 100
        // The request waits until the gap is no reordering; the answer for the pacer.
        #expect((expected...expected + 60).contains(try #require(repaired[.frameDelay99])))
        #expect(abs(try #require(clean[.frameDelayMedian]) - #require(repaired[.frameDelayMedian])) < 15)
    }

    @Test("without loss, repair changes neither frames nor their times")
    func noLossNoDifference() throws {
        let with = try run(.nack, loss: 0).metrics
        let without = try run(.none, loss: 0).metrics
        for metric in [Metric.goodput, .frameDelayMedian, .frameDelay99, .framesLost, .framesSkipped, .loss] {
            let (one, other) = (try #require(with[metric]), try #require(without[metric]))
            #expect(abs(one - other) <= 0.02 * other + 0.5, "\(metric.rawValue): \(one) and \(other)")
        }
    }

    @Test("retransmissions are part of the target")
    func underTheTarget() throws {
        let result = try run(.nack, loss: 0.1, rate: .megabits(2))
        let sent = try #require(result.metrics[.sendRate])
        // Up to the budget's quarter of a second of debt, plus the IP and UDP headers of packets of 1100 bytes.
        #expect((1.8...2.09).contains(sent))
        #expect(try #require(result.metrics[.retransmitted]) > 7)
    }

    @Test("however much is lost and requested again, retransmissions take their share of the rate alone")
    func boundedRetransmissions() throws {
        let metrics = try run(.nack, loss: 0.7).metrics
        #expect(try #require(metrics[.retransmitted]) < 40)
        #expect(try #require(metrics[.sendRate]) < 1.1)
    }

    @Test("behind a policer the rate settles at the policer's")
    func policer() throws {
        let metrics = try run(
            .nack, loss: 0, policer: Policer(rate: .megabits(1), burst: DataSize(bytes: 32_000)), seconds: 40,
            adapts: true
        ).metrics
        #expect(try #require(metrics[.goodput]) > 0.8)
        #expect(try #require(metrics[.loss]) < 25)
        #expect(try #require(metrics[.framesLateOrLost]) < 20)
    }

    @Test("requests get lost with the feedback, and are repeated")
    func lostRequests() throws {
        let result = try run(.nack, loss: 0.05, feedbackLoss: 0.3)
        #expect(try #require(result.metrics[.residualLoss]) < 1)
        let outage = try run(
            .nack, loss: 0.05, events: [(.seconds(5), .feedbackLost(true)), (.seconds(15), .feedbackLost(false))])
        #expect(try #require(outage.metrics[.residualLoss]) > 1)
    }
}
