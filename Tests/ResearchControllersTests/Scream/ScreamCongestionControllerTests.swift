import MediaCore
import RTP
import Testing

@testable import CongestionControl
@testable import ResearchControllers

@Suite("The SCReAM controller")
struct ScreamCongestionControllerTests {
    private var controller = ScreamCongestionController(limits: .test, now: .zero)
    private var sequence: Int64 = 0
    private var time = 0.0

    /// Each 10 ms three packets leave and are reported 50 ms later, after this delay in a queue. There are so many that
    /// the source does not limit the window.
    private mutating func run(
        rounds: Int, queue: (Int) -> Double? = { _ in 0 }, ecn: ECNCodepoint = .notCapable, inFlight: Int = 30
    ) {
        for _ in 0..<rounds {
            var results: [PacketResult] = []
            for _ in 0..<3 {
                let delay = queue(Int(sequence))
                let packet = SentPacket(transportSequence: sequence, size: .packet, sendTime: at(time))
                controller.packetSent(packet, now: at(time))
                results.append(
                    PacketResult(sent: packet, receiveTime: delay.map { at(time + 20 + $0) }, ecn: ecn))
                sequence += 1
            }
            let now = at(time + 50)
            controller.feedbackReceived(
                TransportFeedbackReport(results: results, feedbackTime: now, dataInFlight: bytes(1200 * inFlight)),
                now: now)
            _ = controller.advance(now: now)
            time += 10
        }
    }

    private func decide(after wait: Double = 50) -> ControlDecision {
        var controller = controller
        return controller.advance(now: at(time + wait))
    }

    @Test("it starts at the start rate, paced at half more, with a window and a limit on waiting data")
    mutating func start() throws {
        let decision = decide()
        #expect(decision.targetBitRate == .kilobits(300))
        #expect(decision.pacingRate == .kilobits(450))
        // Two packets, three times.
        #expect(try #require(decision.congestionWindow) == bytes(7200))
        #expect(decision.frameTimeout == .milliseconds(100))
    }

    @Test("on a free path the window grows, and the target is the window per round trip")
    mutating func grows() throws {
        run(rounds: 200)
        let decision = decide()
        let window = Double(try #require(decision.congestionWindow).bytes) / 3
        #expect(window > 20_000)
        // 8·W/(s_rtt + 1 ms), less headers and a tenth, as long as the window holds ten packets or more.
        let roundTrip = try #require(controller.snapshot.roundTripTime).seconds
        let expected = 8 * window / (roundTrip + 0.001) * 1200 / 1220 / 1.1
        #expect(abs(Double(decision.targetBitRate.bitsPerSecond) / expected - 1) < 0.01)
        #expect(abs(roundTrip - 0.05) < 0.001)
    }

    @Test("a queue above half of the target delay brings the window down")
    mutating func delay() throws {
        run(rounds: 100)
        let before = try #require(decide().congestionWindow)
        run(rounds: 100, queue: { _ in 55 })
        let decision = decide()
        #expect(try #require(decision.congestionWindow).bytes < before.bytes / 2)
        #expect(controller.snapshot.networkState == .overusing)
        #expect(controller.snapshot.limit == .delay)
    }

    @Test("a queue of less than half of the target delay does not")
    mutating func shortQueue() throws {
        run(rounds: 100)
        let before = try #require(decide().congestionWindow)
        run(rounds: 100, queue: { _ in 25 })
        #expect(try #require(decide().congestionWindow) >= before)
    }

    @Test("more than one loss in a hundred reduces the window, fewer do not while the queue is short")
    mutating func losses() throws {
        run(rounds: 100)
        let before = try #require(decide().congestionWindow)
        run(rounds: 100, queue: { $0.isMultiple(of: 250) ? nil : 0 })
        #expect(try #require(decide().congestionWindow) >= before)
        run(rounds: 100, queue: { $0.isMultiple(of: 10) ? nil : 0 })
        #expect(try #require(decide().congestionWindow) < before)
        #expect(controller.snapshot.limit == .loss)
        #expect(controller.snapshot.fractionLost > 0.01)
    }

    @Test("classic marks take a tenth each time, L4S marks half of their part")
    mutating func marks() throws {
        run(rounds: 50, ecn: .capable0)
        let before = Double(try #require(decide().congestionWindow).bytes)
        run(rounds: 1, ecn: .congestionExperienced)
        let classic = Double(try #require(decide().congestionWindow).bytes)
        #expect(abs(classic / before - 0.9) < 0.01)

        controller = ScreamCongestionController(limits: .test, now: at(time))
        run(rounds: 50, ecn: .capable1)
        let fresh = Double(try #require(decide().congestionWindow).bytes)
        // Half of the packets since the last update: an eighth of that is the average, and half of the average is
        // taken, over 50/30 for the round trip.
        run(rounds: 1, ecn: .congestionExperienced)
        let scalable = Double(try #require(decide().congestionWindow).bytes)
        #expect(abs(scalable / fresh - (1 - 0.5 / 8 / 2 / (0.05 / 0.03))) < 0.005)
    }

    @Test("when nothing could leave for half a second, the data in flight is reset")
    mutating func timeout() throws {
        run(rounds: 10)
        let window = try #require(decide().congestionWindow)
        for _ in 0..<100 {
            let packet = SentPacket(transportSequence: sequence, size: .packet, sendTime: at(time))
            controller.packetSent(packet, now: at(time))
            sequence += 1
        }
        controller.senderQueueChanged(bytes(5000), now: at(time + 400))
        #expect(try #require(decide(after: 400).congestionWindow) == window)
        controller.senderQueueChanged(bytes(5000), now: at(time + 501))
        // 130 packets are in flight, and as many may be beyond the window.
        #expect(try #require(decide(after: 501).congestionWindow) == window + bytes(130 * 1200))
    }

    @Test("a source that sends little keeps the window near what is in flight")
    mutating func applicationLimited() throws {
        run(rounds: 400, inFlight: 2)
        let window = Double(try #require(decide().congestionWindow).bytes) / 3
        // Twice five packets, and one more.
        #expect(window <= 1200 * 11)
    }

    @Test("the target reaches the highest rate and no more, and a receiver's estimate bounds it")
    mutating func limits() {
        run(rounds: 1500, inFlight: 200)
        #expect(decide().targetBitRate == .megabits(8))
        controller.remoteEstimateReceived(.megabits(1), now: at(time))
        #expect(decide().targetBitRate == .megabits(1))
    }

    @Test("a delay that never falls again becomes the new base within minutes, after a pause to drain")
    mutating func clockDrift() {
        run(rounds: 100)
        // Another route: 20 ms longer, without a queue.
        var hasDrained = false
        for _ in 0..<140 where !hasDrained {
            run(rounds: 100, queue: { _ in 20 })
            hasDrained = controller.snapshot.delayTrend < 1
        }
        #expect(hasDrained)
    }
}
