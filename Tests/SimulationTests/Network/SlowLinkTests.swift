import CongestionControl
import MediaCore
import Testing

@testable import LinkEmulation
@testable import Simulation

@Suite("Links around the minimum rate")
struct SlowLinkTests {
    static let deep = QueueLimit.packets(1000)

    private func run(
        _ rate: LinkRate, queue: QueueLimit = deep, delay: Duration = .milliseconds(20), loss: LossModel = .none,
        audio: BitRate? = nil, tcp: TCPFlowParameters? = nil, seconds: Int = 40, seed: UInt64 = 1
    ) throws -> ScenarioResult {
        let limits = RateLimits(minimum: .kilobits(150), start: .kilobits(300), maximum: .megabits(8))
        let parameters = MediaFlowParameters(
            encoder: EncoderModel.Configuration(minimum: limits.minimum, maximum: limits.maximum), audio: audio)
        var flows: [Scenario.Flow] = [
            .init(name: "video", kind: .media(parameters, limits), forward: ["forward"], backward: ["backward"])
        ]
        if let tcp { flows.append(.init(name: "tcp", kind: .tcp(tcp), forward: ["forward"], backward: ["backward"])) }
        let scenario = Scenario(
            name: "test", duration: .seconds(seconds),
            links: [
                .init(
                    name: "forward",
                    profile: LinkProfile(rate: rate, delay: delay, loss: loss, queue: queue)),
                .init(name: "backward", profile: LinkProfile(delay: delay)),
            ],
            flows: flows)
        var simulation = try ScenarioSimulation(scenario: scenario, seed: seed) { context in
            SimulatedController(ConfrelayCongestionController(limits: context.limits, now: context.start))
        }
        return simulation.run(controllerName: "confrelay")
    }

    /// The percentile and the longest of the queueing delays that samples show after the first five seconds, in ms.
    private func queue(_ result: ScenarioResult, from start: Double = 5, to end: Double = 1000) -> (Double, Double) {
        let delays = result.flows[0].samples.filter { $0.time > start && $0.time < end }.map(\.queueDelay).sorted()
        return (delays[delays.count * 95 / 100], delays.last ?? 0)
    }

    @Test(
        "the queue stays below 400 ms at any rate and buffer size of the link",
        arguments: [60.0, 80, 100, 150, 200, 400], [deep, .duration(.milliseconds(300))])
    func steady(kilobits: Double, buffer: QueueLimit) throws {
        let result = try run(.fixed(.kilobits(kilobits)), queue: buffer)
        let (most, longest) = queue(result)
        #expect(most < 400)
        #expect(longest < 1000)
        if kilobits >= 150 { #expect(try #require(result.metrics[.utilization]) > 90) }
    }

    @Test(
        "the queue never exceeds a second, before the first feedback neither",
        arguments: [60.0, 80, 100, 200, 400], [20, 100, 300])
    func start(kilobits: Double, delay: Int) throws {
        for audio in [nil, BitRate.kilobits(32)] {
            let result = try run(
                .fixed(.kilobits(kilobits)), delay: .milliseconds(delay), audio: audio, seconds: 8)
            #expect(queue(result, from: 0).1 < 1000)
        }
    }

    @Test("so it does where a twentieth of the packets is lost", arguments: [60.0, 80, 100, 150, 200, 400])
    func loss(kilobits: Double) throws {
        let (most, longest) = queue(try run(.fixed(.kilobits(kilobits)), loss: 0.05))
        #expect(most < 400)
        #expect(longest < 1000)
    }

    @Test("a link that falls below the minimum rate has no long queue, and late frames are few", arguments: 1...3)
    func dips(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let rates: [Double] = [200, 210, 190, 180, 120, 140]
        let steps = (0..<30).map { index -> LinkRate.Step in
            let rate = rates.randomElement(using: &random) ?? 200
            return LinkRate.Step(at: .seconds(2 * index), rate: .kilobits(rate))
        }
        let result = try run(.steps(steps), seconds: 60, seed: UInt64(seed))
        let (most, longest) = queue(result)
        #expect(most < 400)
        #expect(longest < 1000)
        #expect(try #require(result.metrics[.framesLate]) < 10)
    }

    @Test("video that does not fit pauses, and audio continues")
    func pause() throws {
        let result = try run(.fixed(.kilobits(60)), audio: .kilobits(32))
        #expect(try #require(result.metrics[.framesSkipped]) > 85)
        let (most, _) = queue(result)
        #expect(most < 400)
        let received = result.flows[0].samples.filter { $0.time > 10 }.map(\.receiveRate)
        #expect(received.reduce(0, +) / Double(received.count) > 0.031)
    }

    @Test("a queue that others have left is not kept in their place", arguments: [200.0, 400])
    func afterTCP(kilobits: Double) throws {
        let result = try run(
            .fixed(.kilobits(kilobits)), queue: .duration(.milliseconds(300)),
            tcp: TCPFlowParameters(start: .seconds(5), stop: .seconds(20)), seconds: 70)
        let (most, _) = queue(result, from: 50, to: 70)
        #expect(most < 150)
    }

    @Test("outages of 0.5 to 5 seconds cost little more than their own time", arguments: [0.5, 1, 2, 5])
    func outages(seconds: Double) throws {
        var steps: [LinkRate.Step] = [.init(at: .zero, rate: .megabits(2))]
        var time = 3.0
        while time < 60 {
            steps.append(.init(at: .seconds(time), rate: .zero))
            steps.append(.init(at: .seconds(time + seconds), rate: .megabits(2)))
            time += seconds * 10
        }
        let result = try run(.steps(steps), seconds: 60)
        #expect(try #require(result.metrics[.utilization]) > 88)
    }
}
