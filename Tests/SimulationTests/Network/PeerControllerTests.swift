import CongestionControl
import MediaCore
import RTP
import ResearchControllers
import Testing

@testable import LinkEmulation
@testable import Simulation

@Suite("SCReAM and NADA in a closed loop")
struct PeerControllerTests {
    enum Peer: String, CaseIterable {
        case scream
        case nada

        func make(_ context: ControllerContext) -> SimulatedController {
            switch self {
            case .scream: .scream(for: context)
            case .nada: .nada(for: context)
            }
        }
    }

    private func run(
        _ peer: Peer, _ rate: LinkRate, loss: LossModel = .none, maximum: BitRate = .megabits(8), seconds: Int = 20,
        events: [(time: Duration, event: MediaFlowParameters.Event)] = [], feedback: MediaFlowParameters.Feedback? = nil
    ) throws -> ScenarioResult {
        let limits = RateLimits(minimum: .kilobits(150), start: .kilobits(300), maximum: maximum)
        var parameters = MediaFlowParameters(
            encoder: EncoderModel.Configuration(minimum: limits.minimum, maximum: limits.maximum), events: events)
        if let feedback {
            parameters.feedback = feedback
            parameters.isFeedbackGiven = true
        }
        let scenario = Scenario(
            name: "test", duration: .seconds(seconds),
            links: [
                .init(
                    name: "forward",
                    profile: LinkProfile(
                        rate: rate, delay: .milliseconds(20), loss: loss, queue: .duration(.milliseconds(300)))),
                .init(name: "backward", profile: LinkProfile(delay: .milliseconds(20))),
            ],
            flows: [
                .init(name: "video", kind: .media(parameters, limits), forward: ["forward"], backward: ["backward"])
            ])
        var simulation = try ScenarioSimulation(scenario: scenario, seed: 1, makeController: peer.make)
        return simulation.run(controllerName: peer.rawValue)
    }

    @Test("a steady link is used without a long queue", arguments: [(Peer.scream, 90.0, 60.0), (.nada, 70, 70)])
    func steady(peer: Peer, use: Double, queue: Double) throws {
        let result = try run(peer, .fixed(.megabits(3)))
        #expect(try #require(result.metrics[.utilization]) > use)
        #expect(try #require(result.metrics[.queueingDelay95]) < queue)
        #expect(try #require(result.metrics[.loss]) < 0.1)
        #expect(try #require(result.metrics[.ramp]) < 10)
    }

    @Test("a drop of the capacity is followed, and a rise found again", arguments: Peer.allCases)
    func steps(peer: Peer) throws {
        let rate = LinkRate.steps([
            .init(at: .zero, rate: .megabits(3)), .init(at: .seconds(15), rate: .megabits(1)),
            .init(at: .seconds(30), rate: .megabits(3)),
        ])
        let result = try run(peer, rate, seconds: 45)
        let samples = result.flows[0].samples
        func goodput(_ range: Range<Double>) -> Double {
            let window = samples.filter { range.contains($0.time) }
            return window.map(\.goodput).reduce(0, +) / Double(window.count)
        }
        #expect(goodput(8..<15) > 2.3)
        #expect((0.6...1.02).contains(goodput(20..<30)))
        #expect(goodput(38..<45) > 2)
    }

    @Test("after missing feedback, later feedback is enough", arguments: Peer.allCases)
    func feedbackOutage(peer: Peer) throws {
        let result = try run(
            peer, .fixed(.megabits(2)),
            events: [(.seconds(10), .feedbackLost(true)), (.seconds(12), .feedbackLost(false))])
        let last = result.flows[0].samples.suffix(25)
        #expect(last.map(\.goodput).reduce(0, +) / Double(last.count) > 1)
    }

    @Test("transport-wide feedback will do, too", arguments: Peer.allCases)
    func transportWide(peer: Peer) throws {
        let result = try run(peer, .fixed(.megabits(3)), feedback: .transportWide)
        #expect(try #require(result.metrics[.utilization]) > 70)
        #expect(try #require(result.metrics[.queueingDelay95]) < 100)
    }

    @Test("SCReAM ignores rare losses with a short queue, and both take frequent ones as congestion")
    func randomLoss() throws {
        let rare = try run(.scream, .fixed(.megabits(3)), loss: 0.002)
        #expect(try #require(rare.metrics[.utilization]) > 85)
        for peer in Peer.allCases {
            let frequent = try run(peer, .fixed(.megabits(3)), loss: 0.05)
            #expect(try #require(frequent.metrics[.utilization]) < 60)
        }
    }

    @Test("the scenario's feedback takes precedence over the controller's own")
    func feedback() {
        var parameters = MediaFlowParameters(
            encoder: EncoderModel.Configuration(minimum: .kilobits(150), maximum: .megabits(8)))
        let made = SimulatedController(
            NADACongestionController(
                limits: RateLimits(minimum: .kilobits(150), start: .kilobits(300), maximum: .megabits(8))),
            feedback: .congestionControl, feedbackTiming: .every(.milliseconds(100)), reportsFrameEnds: false)
        let adapted = made.adapting(parameters)
        #expect(adapted.feedback == .congestionControl)
        #expect(adapted.feedbackTiming == .every(.milliseconds(100)))
        #expect(!adapted.reportsFrameEnds)
        parameters.isFeedbackGiven = true
        parameters.feedbackTiming = .browser
        #expect(made.adapting(parameters).feedbackTiming == .browser)
        #expect(made.adapting(parameters).feedback == .transportWide)
        #expect(made.adapting(parameters).reportsFrameEnds)
    }
}
