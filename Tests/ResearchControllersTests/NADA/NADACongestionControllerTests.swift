import MediaCore
import Testing

@testable import CongestionControl
@testable import ResearchControllers

@Suite("The NADA controller")
struct NADACongestionControllerTests {
    private var controller = NADACongestionController(limits: .test)
    private var sequence: Int64 = 0
    private var time = 0.0

    private mutating func start(at rate: BitRate, maximum: BitRate = .megabits(8)) {
        controller = NADACongestionController(
            limits: RateLimits(minimum: .kilobits(150), start: rate, maximum: maximum))
    }

    /// Packets of 1250 bytes each 10 ms, which is 1 Mbit/s, with these delays in ms (nil: lost), and a report 30 ms
    /// after the last one.
    private mutating func report(_ delays: [Double?]) {
        var results: [PacketResult] = []
        for delay in delays {
            let packet = SentPacket(transportSequence: sequence, size: bytes(1250), sendTime: at(time))
            controller.packetSent(packet, now: at(time))
            results.append(PacketResult(sent: packet, receiveTime: delay.map { at(time + $0) }))
            sequence += 1
            time += 10
        }
        let now = at(time - 10 + (delays.compactMap { $0 }.last ?? 0) + 30)
        controller.feedbackReceived(
            TransportFeedbackReport(results: results, feedbackTime: now, dataInFlight: .zero), now: now)
    }

    private func decide() -> ControlDecision {
        var controller = controller
        return controller.advance(now: at(time + 100))
    }

    @Test("it starts at the start rate, and has no window")
    mutating func start() {
        let decision = decide()
        #expect(decision.targetBitRate == .kilobits(300))
        #expect(decision.congestionWindow == nil)
        #expect(controller.snapshot.limit == .start)
    }

    @Test("on a free path the rate rises faster than the arriving rate (equations 3 and 4)")
    mutating func rampUp() {
        report(Array(repeating: 30, count: 20))
        // The newest packet's round trip is 60 ms: γ = 50/(60 + 100 + 120), and 1 Mbit/s arrives.
        #expect(abs(decide().targetBitRate.kilobitsPerSecond - 1178.57) < 0.01)
        #expect(controller.snapshot.networkState == .normal)
        #expect(controller.snapshot.acknowledgedBitRate == .megabits(1))
    }

    @Test("the leap is bounded, and never downwards")
    mutating func rampUpBounds() {
        var parameters = NADAParameters()
        parameters.maximumRampUp = 0.1
        controller = NADACongestionController(limits: .test, parameters: parameters)
        report(Array(repeating: 30, count: 20))
        #expect(decide().targetBitRate == .kilobits(1100))
        start(at: .megabits(2))
        report(Array(repeating: 30, count: 20))
        #expect(decide().targetBitRate == .megabits(2))
    }

    @Test("with a queue the rate follows the signal's offset and change (equations 5 to 7)")
    mutating func gradual() {
        start(at: .megabits(1))
        // The update comes 290 ms after the first packet left, at a signal of 20 ms; the equilibrium is 10·8/1 ms:
        // 1 - 0.5·(290/500)·(-60/500) - 0.5·2·(20/500) = 0.9948.
        report(Array(repeating: 30, count: 5) + Array(repeating: 50, count: 17))
        #expect(abs(decide().targetBitRate.kilobitsPerSecond - 994.8) < 0.001)
        #expect(controller.snapshot.delayTrend == 20)
        // 100 ms later the signal has not changed: 994.8·(1 - 0.5·(100/500)·((20 - 80/0.9948)/500)).
        report(Array(repeating: 50, count: 10))
        #expect(abs(decide().targetBitRate.kilobitsPerSecond - 1006.821) < 0.01)
    }

    @Test("above its equilibrium the signal pushes the rate down, at most to the minimum")
    mutating func overuse() {
        start(at: .megabits(4), maximum: .megabits(4))
        report(Array(repeating: 30, count: 5) + Array(repeating: 80, count: 20))
        let first = decide().targetBitRate
        #expect(first < .megabits(4))
        #expect(controller.snapshot.networkState == .overusing)
        for _ in 0..<100 { report(Array(repeating: 480, count: 10)) }
        #expect(decide().targetBitRate == .kilobits(150))
    }

    @Test("after a pause of a minute the rate does not leap")
    mutating func pause() {
        start(at: .megabits(1))
        report(Array(repeating: 30, count: 5) + Array(repeating: 50, count: 17))
        time += 60_000
        // The signal is 15 ms now: 994.8·(1 - 0.5·(500/500)·((15 - 80.4)/500) - (15 - 20)/500), not a minute's worth.
        report(Array(repeating: 30, count: 4) + Array(repeating: 45, count: 16))
        #expect(abs(decide().targetBitRate.kilobitsPerSecond - 1069.8) < 0.5)
    }

    @Test("a loss ends the ramp-up and bounds the rate")
    mutating func loss() {
        report(Array(repeating: 30, count: 10) + [nil, nil] + Array(repeating: 30, count: 10))
        // Two of 22 lost, smoothed 0.00909: 10·0.909² = 8.26 ms, and the equilibrium is far above at 300 kbit/s.
        let rate = decide().targetBitRate
        #expect(rate > .kilobits(300))
        #expect(rate < .kilobits(400))
        #expect(controller.snapshot.limit == .loss)
        #expect(abs(controller.snapshot.delayTrend - 8.264) < 0.001)
    }

    @Test("reports in quick succession are taken together")
    mutating func succession() {
        report(Array(repeating: 30, count: 20))
        let rate = decide().targetBitRate
        report([30, 30, 30, 30])
        #expect(decide().targetBitRate == rate)
    }

    @Test("while packets wait, the encoder makes less and the sender lets out more (equations 11 to 14)")
    func shaping() {
        func decide(waiting: Int) -> ControlDecision {
            var controller = NADACongestionController(
                limits: RateLimits(minimum: .kilobits(150), start: .megabits(1), maximum: .megabits(8)))
            controller.senderQueueChanged(bytes(waiting), now: at(0))
            controller.limitsChanged(
                RateLimits(minimum: .kilobits(150), start: .megabits(1), maximum: .megabits(8)), now: at(0))
            return controller.advance(now: at(0))
        }
        // 0.1·8·1500·30 = 36 kbit/s.
        #expect(decide(waiting: 1500).targetBitRate == .kilobits(964))
        #expect(decide(waiting: 1500).pacingRate == .kilobits(1036))
        // A twentieth at most, not 120 kbit/s.
        #expect(decide(waiting: 5000).targetBitRate == .kilobits(950))
        #expect(decide(waiting: 5000).pacingRate == .kilobits(1050))
        #expect(decide(waiting: 0).pacingRate == .megabits(1))
    }

    @Test("a receiver's estimate is an upper bound")
    mutating func remoteEstimate() {
        report(Array(repeating: 30, count: 20))
        controller.remoteEstimateReceived(.kilobits(500), now: at(time))
        #expect(decide().targetBitRate == .kilobits(500))
    }
}
