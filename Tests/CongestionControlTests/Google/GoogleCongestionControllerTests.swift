import MediaCore
import RTP
import Testing

@testable import CongestionControl

@Suite("Google congestion control")
struct GoogleCongestionControllerTests {
    @Test("it starts at the start rate and paces at 2.5 times the target, 40 ms at once")
    func start() {
        let path = SimplePath()
        #expect(path.decision.targetBitRate == .kilobits(300))
        #expect(path.decision.pacingRate == .kilobits(750))
        #expect(path.decision.pacingBurst == .milliseconds(40))
    }

    @Test("the first packet leads to probes, each handed out once")
    func probes() {
        var controller = GoogleCongestionController(limits: .test, now: .zero)
        #expect(controller.advance(now: at(0)).newProbeClusters.isEmpty)
        controller.packetSent(SentPacket(transportSequence: 0, size: .packet, sendTime: at(0)), now: at(0))
        #expect(controller.advance(now: at(0)).newProbeClusters.map(\.rate) == [.kilobits(900), .kilobits(1800)])
        #expect(controller.advance(now: at(1)).newProbeClusters.isEmpty)
    }

    @Test("without queues the target grows to the maximum")
    func growth() {
        var path = SimplePath(
            limits: RateLimits(minimum: .kilobits(150), start: .kilobits(300), maximum: .kilobits(900)))
        path.run(for: .seconds(25))
        #expect(path.decision.targetBitRate == .kilobits(900))
        #expect(path.controller.snapshot.networkState == .normal)
    }

    @Test("growing delay reduces the target below the arriving rate")
    func delayGrows() {
        var path = SimplePath()
        path.run(for: .seconds(5))
        let before = path.decision.targetBitRate
        let start = path.now
        // Each second of sending adds 200 ms of delay: a sixth more is sent than the path carries.
        path.run(for: .seconds(1)) { .milliseconds(25) + .nanoseconds(($0.sendTime - start).nanoseconds / 5) }
        #expect(path.decision.targetBitRate < before * 0.95)
    }

    @Test("random loss above 10 % brings the target down, below 2 % it does not")
    func loss() {
        var random = SeededGenerator(seed: 5)
        var path = SimplePath()
        path.run(for: .seconds(10)) { _ in
            Int.random(in: 0..<100, using: &random) < 1 ? nil : .milliseconds(25)
        }
        let before = path.decision.targetBitRate
        #expect(before > .kilobits(400))
        path.run(for: .seconds(10)) { _ in
            Int.random(in: 0..<100, using: &random) < 30 ? nil : .milliseconds(25)
        }
        #expect(path.decision.targetBitRate < before * 0.6)
        #expect(path.decision.targetBitRate >= .kilobits(150))
    }

    @Test("feedback that stops brings the target to the minimum, and back when it resumes")
    func feedbackStops() {
        var path = SimplePath()
        path.run(for: .seconds(10))
        let before = path.decision.targetBitRate
        // The round trip and three seconds, and feedback that was still on its way.
        path.run(for: .milliseconds(2900), feedback: false)
        #expect(path.decision.targetBitRate >= before * 0.5)
        path.run(for: .seconds(20), feedback: false)
        #expect(path.decision.targetBitRate == .kilobits(150))
        #expect(path.controller.snapshot.limit == .configuration)
        path.run(for: .seconds(15))
        #expect(path.decision.targetBitRate > .kilobits(300))
    }

    @Test("an application that sends little makes the target neither grow without bound nor fall")
    func applicationLimited() {
        var path = SimplePath()
        path.run(for: .seconds(5))
        let before = path.decision.targetBitRate
        path.run(for: .seconds(60), rate: .kilobits(100))
        #expect(path.decision.targetBitRate >= before)
        #expect(path.decision.targetBitRate < before * 1.3)
    }

    @Test("the receiver's estimate is an upper bound")
    func remoteEstimate() {
        var path = SimplePath()
        path.run(for: .seconds(5))
        path.controller.remoteEstimateReceived(.kilobits(250), now: path.now)
        path.run(for: .seconds(5))
        #expect(path.decision.targetBitRate == .kilobits(250))
        #expect(path.controller.snapshot.limit == .remoteEstimate)
    }

    @Test("without transport-wide feedback, receiver reports move the target")
    func receiverReports() {
        var controller = GoogleCongestionController(limits: .test, now: .zero)
        func run(_ seconds: Range<Int>, loss: Double) -> BitRate {
            for second in seconds {
                for tick in 0..<20 {
                    let now = at(Double(second) * 1000 + Double(tick) * 50)
                    controller.packetSent(
                        SentPacket(transportSequence: Int64(second * 20 + tick), size: .packet, sendTime: now), now: now
                    )
                    _ = controller.advance(now: now)
                }
                controller.receiverReportReceived(
                    fractionLost: loss, roundTripTime: .milliseconds(80), now: at(Double(second + 1) * 1000))
            }
            return controller.advance(now: at(Double(seconds.upperBound) * 1000)).targetBitRate
        }
        let grown = run(0..<10, loss: 0)
        #expect(grown > .kilobits(500))
        #expect(controller.snapshot.roundTripTime == .milliseconds(80))
        #expect(run(10..<15, loss: 0.05) <= grown * 1.1)
        let before = controller.snapshot.targetBitRate
        let fallen = run(15..<20, loss: 0.3)
        #expect(fallen < before * 0.5)
    }

    @Test("the same input gives the same output")
    func deterministic() {
        func run() -> [Int64] {
            var random = SeededGenerator(seed: 9)
            var path = SimplePath()
            return (0..<50).map { _ in
                path.run(for: .milliseconds(200)) { _ in
                    .microseconds(Int64.random(in: 20_000...60_000, using: &random))
                }
                return path.decision.targetBitRate.bitsPerSecond
            }
        }
        #expect(run() == run())
    }

    @Test("it asks to be woken in the future")
    func wakeUp() {
        var path = SimplePath()
        for _ in 0..<100 {
            path.run(for: .milliseconds(100), feedback: path.now < at(5000))
            #expect(path.decision.nextWakeUp > path.now)
        }
    }

    @Test("hostile feedback neither traps nor leaves the limits")
    func hostile() {
        var random = SeededGenerator(seed: 42)
        for round in 0..<6 {
            var adapter = TransportFeedbackAdapter()
            var controller = GoogleCongestionController(limits: .test, now: .zero)
            var now = at(0)
            for _ in 0..<800 {
                now += .microseconds(Int64.random(in: 0...20_000, using: &random))
                let (_, packet) = adapter.packetSent(
                    size: bytes(Int.random(in: 0...1500, using: &random)),
                    probeClusterID: Int.random(in: -1...8, using: &random), now: now)
                controller.packetSent(packet, now: now)
                let count = Int.random(in: 0...30, using: &random)
                let base = UInt16(
                    truncatingIfNeeded: packet.transportSequence - Int64.random(in: -5...40, using: &random))
                let scale: Int64 = round % 2 == 0 ? 100_000_000 : .max
                let feedback = TransportFeedback(
                    senderSSRC: 0, mediaSSRC: 0, baseSequence: base,
                    referenceTime: round % 3 == 0 ? Int32.random(in: .min ... .max, using: &random) : 0,
                    feedbackCount: 0,
                    packets: (0..<count).map { index in
                        PacketStatus(
                            sequence: Bool.random(using: &random)
                                ? base &+ UInt16(index) : UInt16.random(in: 0...UInt16.max, using: &random),
                            receiveDelta: Int.random(in: 0..<5, using: &random) == 0
                                ? nil : .nanoseconds(Int64.random(in: -scale...scale, using: &random)))
                    })
                if let report = adapter.handle(feedback, now: now) { controller.feedbackReceived(report, now: now) }
                if Int.random(in: 0..<50, using: &random) == 0 {
                    controller.receiverReportReceived(
                        fractionLost: Double.random(in: -1...3, using: &random),
                        roundTripTime: .nanoseconds(Int64.random(in: .min ... .max, using: &random)), now: now)
                    controller.remoteEstimateReceived(
                        BitRate(bitsPerSecond: Int64.random(in: .min ... .max, using: &random)), now: now)
                }
                let decision = controller.advance(now: now)
                #expect(RateLimits.test.range.contains(decision.targetBitRate))
            }
        }
    }
}
