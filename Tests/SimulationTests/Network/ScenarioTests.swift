import CongestionControl
import MediaCore
import RTP
import ResearchControllers
import Testing

@testable import LinkEmulation
@testable import Simulation

@Suite("Scenarios of several flows")
struct ScenarioTests {
    private let limits = RateLimits(minimum: .kilobits(150), start: .kilobits(300), maximum: .megabits(8))

    private func media(_ name: String, _ parameters: MediaFlowParameters? = nil) -> Scenario.Flow {
        let standard = MediaFlowParameters(
            encoder: EncoderModel.Configuration(minimum: limits.minimum, maximum: limits.maximum))
        return .init(
            name: name, kind: .media(parameters ?? standard, limits), forward: ["forward"], backward: ["backward"])
    }

    private func run(
        _ link: LinkProfile, _ flows: [Scenario.Flow], seconds: Int = 20, seed: UInt64 = 1,
        controller: (ControllerContext) -> SimulatedController
    ) throws -> ScenarioResult {
        let scenario = Scenario(
            name: "test", duration: .seconds(seconds),
            links: [
                .init(name: "forward", profile: link), .init(name: "backward", profile: LinkProfile(delay: link.delay)),
            ],
            flows: flows)
        var simulation = try ScenarioSimulation(scenario: scenario, seed: seed, makeController: controller)
        return simulation.run(controllerName: "test")
    }

    private func google(_ context: ControllerContext) -> SimulatedController {
        SimulatedController(GoogleCongestionController(limits: context.limits, now: context.start))
    }

    private func oracle(_ context: ControllerContext) -> SimulatedController {
        SimulatedController(
            OracleController(
                link: context.fairLink, frameInterval: context.frameInterval,
                limits: context.limits, packetOverhead: context.packetOverhead))
    }

    @Test("an oracle uses over 98 % of a steady link with less than 10 ms in the queue", arguments: [3.0, 6])
    func oracleIsCeiling(megabits: Double) throws {
        let result = try run(
            LinkProfile(rate: .fixed(.megabits(megabits)), delay: .milliseconds(20)), [media("video")], seconds: 20,
            controller: oracle)
        #expect(try #require(result.metrics[.utilization]) > 98)
        #expect(try #require(result.metrics[.queueingDelay95]) < 10)
        #expect(result.metrics[.loss] == 0)
    }

    @Test("an oracle uses over 98 % of a link that changes slowly with less than 10 ms in the queue")
    func oracleOnSteps() throws {
        let rates = [3.0, 5, 4, 6, 2].enumerated().map {
            LinkRate.Step(at: .seconds(6 * $0.offset), rate: .megabits($0.element))
        }
        let result = try run(
            LinkProfile(rate: .steps(rates), delay: .milliseconds(20)), [media("video")], seconds: 30,
            controller: oracle)
        #expect(try #require(result.metrics[.utilization]) > 98)
        #expect(try #require(result.metrics[.queueingDelay95]) < 10)
    }

    @Test(
        "an oracle sends what a policer lets pass, whatever the link behind it carries",
        arguments: [LinkRate.unlimited, .fixed(.megabits(20))])
    func oracleBehindPolicer(rate: LinkRate) throws {
        let policer = Policer(rate: .megabits(1.5), burst: DataSize(bytes: 32_000))
        let result = try run(
            LinkProfile(rate: rate, delay: .milliseconds(20), policer: policer), [media("video")], seconds: 20,
            controller: oracle)
        #expect(try #require(result.metrics[.utilization]) > 98)
        #expect(result.metrics[.loss] == 0)
    }

    @Test("the same seed gives the same result, another one another")
    func deterministic() throws {
        let link = LinkProfile(
            rate: .fixed(.megabits(2)), delay: .milliseconds(20), jitter: .milliseconds(5), loss: 0.01)
        let flows = [
            media("video"),
            .init(name: "tcp", kind: .tcp(.init(start: .seconds(5))), forward: ["forward"], backward: ["backward"]),
        ]
        let first = try run(link, flows, seconds: 15, controller: google)
        #expect(try run(link, flows, seconds: 15, controller: google) == first)
        #expect(try run(link, flows, seconds: 15, seed: 2, controller: google) != first)
    }

    @Test("equal flows of an oracle are equally fair, and Jain's index says so")
    func fairness() throws {
        let result = try run(
            LinkProfile(rate: .fixed(.megabits(3)), delay: .milliseconds(20)), [media("one"), media("two")],
            controller: oracle)
        #expect(try #require(result.metrics[.fairness20]) > 0.999)
        #expect((49...51).contains(try #require(result.flows[0].metrics[.share])))
    }

    @Test("the share beside TCP leaves out media on other links")
    func shareBesideTCP() throws {
        let tcp = Scenario.Flow(name: "tcp", kind: .tcp(.init()), forward: ["forward"], backward: ["backward"])
        var other = media("other")
        other.forward = ["wide"]
        func share(_ flows: [Scenario.Flow]) throws -> Double? {
            let scenario = Scenario(
                name: "test", duration: .seconds(10),
                links: [
                    .init(name: "forward", profile: LinkProfile(rate: .fixed(.megabits(2)))),
                    .init(name: "wide", profile: LinkProfile(rate: .fixed(.megabits(8)))),
                    .init(name: "backward", profile: LinkProfile(delay: .milliseconds(40))),
                ], flows: flows)
            var simulation = try ScenarioSimulation(scenario: scenario, seed: 1, makeController: google)
            return simulation.run(controllerName: "test").metrics[.shareAgainstTCP]
        }
        let expected = try #require(try share([media("video"), tcp]))
        #expect(abs(try #require(try share([media("video"), tcp, other])) - expected) < 1)
    }

    @Test("a flow that pauses sends nothing meanwhile, and the pause does not count against it")
    func pause() throws {
        var parameters = MediaFlowParameters(
            encoder: EncoderModel.Configuration(minimum: limits.minimum, maximum: limits.maximum))
        parameters.events = [(.seconds(10), .sending(false)), (.seconds(20), .sending(true))]
        let result = try run(
            LinkProfile(rate: .fixed(.megabits(2)), delay: .milliseconds(20)), [media("video", parameters)],
            seconds: 30, controller: google)
        let paused = result.flows[0].samples.filter { $0.time > 11 && $0.time < 20 }
        #expect(paused.allSatisfy { $0.sendRate == 0 && !$0.isActive })
        #expect(try #require(result.metrics[.utilization]) > 60)
    }

    @Test("a flow that stops during a pause does not come back at the pause's end")
    func stopDuringPause() throws {
        var parameters = MediaFlowParameters(
            encoder: EncoderModel.Configuration(minimum: limits.minimum, maximum: limits.maximum), stop: .seconds(5))
        parameters.events = [(.seconds(3), .sending(false)), (.seconds(7), .sending(true))]
        let result = try run(
            LinkProfile(rate: .fixed(.megabits(2)), delay: .milliseconds(20)), [media("video", parameters)],
            seconds: 10, controller: google)
        #expect(result.flows[0].samples.filter { $0.time > 4 }.allSatisfy { $0.sendRate == 0 && !$0.isActive })
    }

    @Test("a long and fast link loses nothing by itself, however many packets are under way")
    func longFatLink() throws {
        let rates = RateLimits(minimum: .megabits(30), start: .megabits(30), maximum: .megabits(30))
        let parameters = MediaFlowParameters(
            encoder: EncoderModel.Configuration(minimum: rates.minimum, maximum: rates.maximum))
        let flow = Scenario.Flow(
            name: "video", kind: .media(parameters, rates), forward: ["forward"], backward: ["backward"])
        let result = try run(LinkProfile(delay: .seconds(2)), [flow], seconds: 8) {
            SimulatedController(FixedRateController(rate: $0.limits.start))
        }
        // Some 3000 packets a second: 6000 are under way.
        #expect(try #require(result.flows[0].metrics[.packetsReceived]) > 10_000)
    }

    @Test("storage for packets under way keeps them while it may grow, and then the newest")
    func messageSlots() {
        var slots = MessageSlots<Int>(capacity: 4, limit: 16)
        let numbers = (0..<20).map { slots.put($0) }
        #expect(numbers.map { slots.take($0) } == (0..<20).map { $0 < 4 ? nil : $0 })
        #expect(slots.take(19) == nil)
    }

    @Test("audio at 20 kbit/s arrives at its rate")
    func audio() throws {
        let flow = Scenario.Flow(
            name: "audio", kind: .audio(.audio()), forward: ["forward"], backward: ["backward"])
        let result = try run(
            LinkProfile(rate: .fixed(.megabits(1)), delay: .milliseconds(20)), [flow], controller: google)
        #expect(abs(try #require(result.flows[0].metrics[.goodput]) - 0.02) < 0.0002)
    }

    @Test("marks of a DualPI2 queue come to the sender by RFC 8888 feedback")
    func marks() throws {
        var parameters = MediaFlowParameters(
            encoder: EncoderModel.Configuration(minimum: limits.minimum, maximum: limits.maximum))
        parameters.feedback = .congestionControl
        parameters.ecn = .capable1
        let result = try run(
            LinkProfile(
                rate: .fixed(.megabits(1)), delay: .milliseconds(20), discipline: .dualPI2),
            [media("video", parameters)], controller: google)
        #expect(try #require(result.metrics[.marked]) > 0)
        #expect(result.links[0].markedPackets > 0)
        #expect(try #require(result.metrics[.utilization]) > 60)
    }

    @Test("a receiver's clock that drifts changes little")
    func drift() throws {
        var parameters = MediaFlowParameters(
            encoder: EncoderModel.Configuration(minimum: limits.minimum, maximum: limits.maximum))
        parameters.receiverClockDrift = 100
        let result = try run(
            LinkProfile(rate: .fixed(.megabits(2)), delay: .milliseconds(20)), [media("video", parameters)],
            controller: google)
        #expect(try #require(result.metrics[.utilization]) > 75)
    }

    @Test("a recorded series of frame sizes is followed, scaled to the target")
    func recordedSizes() {
        var encoder = EncoderModel(
            configuration: .init(
                frameRate: 10, minimum: .kilobits(100), maximum: .megabits(4),
                recordedFrameSizes: [DataSize(bytes: 3000), DataSize(bytes: 1000), DataSize(bytes: 2000)]), seed: 1)
        let sizes = (0..<4).map { _ in encoder.nextFrame(target: .kilobits(800)).bytes }
        #expect(sizes == [15_000, 5000, 10_000, 15_000])
    }

    @Test("a frame fits into a buffer at any rate")
    func largestFrame() {
        var encoder = EncoderModel(
            configuration: .init(frameRate: 30, minimum: .kilobits(100), maximum: .megabits(1e6)), seed: 1)
        encoder.requestKeyframe()
        #expect(encoder.nextFrame(target: .megabits(1e6)) == EncoderModel.largestFrame)
    }

    @Test("an encoder with a lag comes to a new target in steps")
    func encoderLag() {
        var encoder = EncoderModel(
            configuration: .init(
                frameRate: 10, minimum: .kilobits(80), maximum: .megabits(4), noise: 0,
                responseLag: .milliseconds(100)),
            seed: 1)
        #expect(encoder.nextFrame(target: .kilobits(800)).bytes == 10_000)
        #expect(encoder.nextFrame(target: .kilobits(400)).bytes == 7500)
        #expect(encoder.nextFrame(target: .kilobits(400)).bytes == 6250)
    }
}

@Suite("Generated traces and tables of rates")
struct TraceTests {
    @Test("a generator gives the same trace for a seed, of its length", arguments: TraceGenerator.Kind.allCases)
    func generated(kind: TraceGenerator.Kind) {
        var one = TraceGenerator(kind: kind, seed: 4)
        var same = TraceGenerator(kind: kind, seed: 4)
        var other = TraceGenerator(kind: kind, seed: 5)
        let trace = one.trace(duration: .seconds(60))
        #expect(trace == same.trace(duration: .seconds(60)))
        #expect(trace != other.trace(duration: .seconds(60)))
        #expect(trace.period == .seconds(60))
        #expect((0.3...25).contains(TraceStatistics(trace).mean))
    }

    @Test("figures of a trace that is easily described")
    func statistics() throws {
        // Ten opportunities in the first second, none in the second, and so on: 0.12 and 0 Mbit/s.
        let bursts: [[Int64]] = (0..<10).map { second in (1...10).map { Int64(second * 2000 + $0 * 100) } }
        let times: [Int64] = bursts.flatMap { $0 } + [20_000]
        let figures = TraceStatistics(try #require(DeliveryTrace(milliseconds: times)))
        #expect(figures.duration == 20)
        #expect(figures.outages == 10)
        #expect(figures.longestOutage == 1.1)
        #expect(abs(figures.percentile95 - 0.12) < 0.013)
        #expect(figures.percentile5 <= 0.012)
        #expect(figures.autocorrelationTime == 0.4)
    }

    @Test("a trace of less than a second has the percentiles of a second of its repetitions")
    func shortTrace() throws {
        let figures = TraceStatistics(try #require(DeliveryTrace(milliseconds: [5])))
        #expect(abs(figures.mean - 2.4) < 1e-9)
        #expect(abs(figures.median - 2.4) < 0.013)
        #expect(figures.autocorrelationTime == nil)
    }

    @Test("a table of times and rates is read, with a heading or without")
    func table() throws {
        let expected: LinkRate = .steps([
            .init(at: .zero, rate: .megabits(2)), .init(at: .milliseconds(1500), rate: .zero),
        ])
        #expect(try LinkRate(parsingTrace: "time_s,rate_mbps\n0,2\n1.5,0\n") == expected)
        #expect(try LinkRate(parsingTrace: "# made up\n0, 2\r\n1.5, 0\r\n") == expected)
    }

    @Test(
        "a table that is none is refused with its line",
        arguments: [
            ("0,1\n0,2\n", 2), ("0,1\nx,2\n", 2), ("a,b\nc,d\n", 2), ("0,-1\n", 1), ("-1,1\n", 1), ("t,r\n", 2),
        ])
    func brokenTable(text: String, line: Int) {
        let error = #expect(throws: LinkProfileError.self) { try LinkRate(parsingTrace: text) }
        guard case .invalidRateTable(let number, _)? = error else {
            Issue.record("not an error of the table")
            return
        }
        #expect(number == line)
    }
}
