import CongestionControl
import MediaCore
import ResearchControllers
import Testing

@testable import LinkEmulation
@testable import Simulation

@Suite("TCP")
struct TCPTests {
    @Test("CUBIC comes back to its old maximum after K and is flat there, as RFC 9438 draws it")
    func cubicCurve() {
        // W_max 100, β 0.7: K = cbrt(100 · 0.3 / 0.4) = 4.217 s.
        let time = CubicWindow.timeToMaximum(maximum: 100, start: 70)
        #expect(abs(time - 4.2172) < 1e-3)
        #expect(abs(CubicWindow.window(at: 0, maximum: 100, start: 70) - 70) < 1e-6)
        #expect(abs(CubicWindow.window(at: time, maximum: 100, start: 70) - 100) < 1e-9)
        // W(t) = 0.4 (t - K)³ + 100.
        #expect(abs(CubicWindow.window(at: 2, maximum: 100, start: 70) - (0.4 * -10.9 + 100)) < 0.02)
        #expect(abs(CubicWindow.window(at: time + 2, maximum: 100, start: 70) - 103.2) < 1e-6)
    }

    @Test("CUBIC's window follows its curve on a long path")
    func cubicGrowth() {
        var cubic = CubicWindow()
        var window = cubic.reduce(1000)
        #expect(abs(window - 700) < 1e-9)
        // 200 ms a round trip; a window's worth of acknowledgements in each.
        let roundTrip = Duration.milliseconds(200)
        for step in 0..<40 {
            let now = MonotonicInstant.zero + roundTrip * step
            for _ in 0..<Int(window / 2) { window = cubic.grow(window, by: 2, roundTripTime: roundTrip, now: now) }
        }
        let expected = CubicWindow.window(at: 8, maximum: 1000, start: 700)
        #expect(abs(window - expected) < 0.02 * expected)
    }

    @Test("CUBIC is no slower than Reno on a short path, and lowers its maximum when it is reduced early")
    func cubicFriendliness() {
        var cubic = CubicWindow()
        var window = cubic.reduce(20)
        for step in 0..<200 {
            let now = MonotonicInstant.zero + .milliseconds(10) * step
            for _ in 0..<Int(window) { window = cubic.grow(window, by: 1, roundTripTime: .milliseconds(10), now: now) }
        }
        // Reno's estimate, at 3 (1 - β) / (1 + β) a round trip up to the maximum and one a round trip above it.
        #expect(window > 100)
        _ = cubic.reduce(100)
        _ = cubic.reduce(80)
        #expect(abs(cubic.maximum - 80 * 0.85) < 1e-9)
    }

    @Test("Reno doubles in slow start, adds one a round trip after it, and halves on loss")
    func reno() {
        var control = TCPCongestionControl(variant: .reno)
        control.acknowledged(10, roundTripTime: .milliseconds(50), now: .zero)
        #expect(control.window == 20)
        control.reduce(now: .zero)
        #expect(control.window == 10)
        for _ in 0..<10 { control.acknowledged(1, roundTripTime: .milliseconds(50), now: .zero) }
        #expect(abs(control.window - 11) < 0.06)
        control.timedOut(now: .zero)
        #expect(control.window == 1)
        #expect(control.isInSlowStart)
    }

    @Test("a segment counts as lost when three above it are acknowledged; it is sent again once")
    func scoreboard() {
        var scoreboard = TCPScoreboard()
        for _ in 0..<10 { _ = scoreboard.sendNew() }
        #expect(scoreboard.pipe == 10)
        _ = scoreboard.acknowledge(upTo: 2, sacked: [3..<5])
        #expect(!scoreboard.hasLost)
        let result = scoreboard.acknowledge(upTo: 2, sacked: [3..<6])
        #expect(result.newly == 1)
        #expect(scoreboard.hasLost)
        // Ten sent, two acknowledged, three selectively, one lost.
        #expect(scoreboard.pipe == 4)
        #expect(scoreboard.resendLost() == 2)
        #expect(scoreboard.resendLost() == nil)
        #expect(scoreboard.pipe == 5)
        #expect(scoreboard.acknowledge(upTo: 10, sacked: []).isAdvance)
        #expect(scoreboard.pipe == 0)
    }

    @Test("a receiver delays acknowledgements of packets in order, and acknowledges others at once")
    func receiver() {
        var receiver = TCPReceiver()
        #expect(receiver.receive(0, sentAt: .zero, isMarked: false, now: at(1)).acknowledgement == nil)
        #expect(receiver.deadline == at(41))
        #expect(receiver.receive(1, sentAt: .zero, isMarked: false, now: at(2)).acknowledgement?.end == 2)
        let gap = receiver.receive(4, sentAt: .zero, isMarked: false, now: at(3)).acknowledgement
        #expect(gap?.end == 2)
        #expect(gap?.sacked == [4..<5])
        let second = receiver.receive(6, sentAt: .zero, isMarked: false, now: at(3)).acknowledgement
        #expect(second?.sacked == [6..<7, 4..<5])
        let filled = receiver.receive(5, sentAt: .zero, isMarked: false, now: at(3)).acknowledgement
        #expect(filled?.sacked == [4..<7])
        _ = receiver.receive(2, sentAt: .zero, isMarked: false, now: at(4))
        let whole = receiver.receive(3, sentAt: .zero, isMarked: false, now: at(5))
        #expect(whole.inOrder == 4)
        #expect(whole.acknowledgement?.end == 7)
    }

    private func run(_ flows: [(String, TCPFlowParameters)], _ link: LinkProfile) throws -> ScenarioResult {
        let scenario = Scenario(
            name: "tcp", duration: .seconds(20),
            links: [
                .init(name: "forward", profile: link), .init(name: "backward", profile: LinkProfile(delay: link.delay)),
            ],
            flows: flows.map { .init(name: $0.0, kind: .tcp($0.1), forward: ["forward"], backward: ["backward"]) })
        var simulation = try ScenarioSimulation(scenario: scenario, seed: 1) { context in
            SimulatedController(FixedRateController(rate: context.limits.start))
        }
        return simulation.run(controllerName: "none")
    }

    @Test("a long flow fills a link and its queue", arguments: TCPVariant.allCases)
    func longFlow(variant: TCPVariant) throws {
        let result = try run(
            [("tcp", TCPFlowParameters(variant: variant))],
            LinkProfile(rate: .fixed(.megabits(10)), delay: .milliseconds(20), queue: .duration(.milliseconds(100))))
        #expect(try #require(result.flows[0].metrics[.goodput]) > 8.8)
        #expect(try #require(result.flows[0].metrics[.queueingDelay95]) > 50)
    }

    @Test("two long flows share a link about equally, and survive random loss")
    func sharing() throws {
        let two = try run(
            [("one", TCPFlowParameters(variant: .reno)), ("other", TCPFlowParameters(variant: .reno))],
            LinkProfile(rate: .fixed(.megabits(4)), delay: .milliseconds(20), queue: .duration(.milliseconds(100))))
        #expect((35...65).contains(try #require(two.flows[0].metrics[.share])))
        let lossy = try run(
            [("tcp", TCPFlowParameters(variant: .cubic))],
            LinkProfile(rate: .fixed(.megabits(10)), delay: .milliseconds(20), loss: 0.01))
        // Mathis: about 1.2 segments over the round-trip time and the square root of the loss.
        #expect((1.5...8).contains(try #require(lossy.flows[0].metrics[.goodput])))
    }

    @Test("short transfers come and go")
    func transfers() throws {
        let transfers = TCPFlowParameters.Transfers(
            minimumSize: DataSize(bytes: 30_000), maximumSize: DataSize(bytes: 50_000), meanIdleTime: .seconds(2))
        let result = try run(
            [("short", TCPFlowParameters(transfers: transfers))],
            LinkProfile(rate: .fixed(.megabits(4)), delay: .milliseconds(20)))
        let bytes = try #require(result.links.first).deliveredBytes
        #expect((4 * 40_000...20 * 40_000).contains(bytes))
    }
}
