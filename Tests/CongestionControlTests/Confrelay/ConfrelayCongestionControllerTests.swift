import MediaCore
import RTP
import Testing

@testable import CongestionControl

@Suite("The confrelay controller")
struct ConfrelayCongestionControllerTests {
    private var controller = ConfrelayCongestionController(limits: .test, now: .zero)
    private var sequence: Int64 = 0

    /// Packets leave at once and arrive 20 ms later, spaced as a link of `rate` spaces them; feedback of them
    /// comes another 20 ms later.
    private mutating func frame(
        at time: Double, packets: Int = 4, rate: BitRate = .megabits(4), size: Int = 1200,
        ecn: ECNCodepoint = .notCapable
    ) {
        var results: [PacketResult] = []
        for index in 0..<packets {
            let packet = SentPacket(transportSequence: sequence, size: bytes(size), sendTime: at(time))
            sequence += 1
            controller.packetSent(packet, now: at(time))
            let arrival = time + 20 + Double((index + 1) * size * 8) / Double(rate.bitsPerSecond) * 1e3
            results.append(PacketResult(sent: packet, receiveTime: at(arrival), ecn: ecn))
        }
        let feedback = at((results.last?.receiveTime ?? .zero).seconds * 1e3 + 20)
        _ = controller.advance(now: at(time))
        controller.feedbackReceived(
            TransportFeedbackReport(results: results, feedbackTime: feedback, dataInFlight: .zero), now: feedback)
    }

    @Test("it starts at the start rate, with a window that 60 kbit/s carry within a second")
    mutating func start() {
        let decision = controller.advance(now: .zero)
        #expect(decision.targetBitRate == .kilobits(300))
        #expect(decision.congestionWindow == bytes(2250))
        #expect(controller.snapshot.limit == .start)
    }

    @Test("before feedback the window grows by half of 60 kbit/s, and a report without feedback takes it away")
    mutating func startWindow() {
        controller.packetSent(SentPacket(transportSequence: 0, size: .packet, sendTime: .zero), now: .zero)
        #expect(controller.advance(now: at(800)).congestionWindow == bytes(2250 + 3000))
        controller.receiverReportReceived(fractionLost: 0, roundTripTime: .milliseconds(40), now: at(810))
        #expect(controller.advance(now: at(820)).congestionWindow == nil)
    }

    @Test("some frames reveal the path's rate")
    mutating func measures() throws {
        for index in 0..<30 { frame(at: Double(index) * 33) }
        let decision = controller.advance(now: at(1000))
        #expect(decision.targetBitRate > .megabits(3))
        #expect(decision.targetBitRate < .megabits(5))
        #expect(decision.pacingRate > decision.targetBitRate)
        let capacity = try #require(controller.snapshot.linkCapacity)
        #expect(abs(capacity / .megabits(4) - 1) < 0.2)
        #expect(controller.snapshot.roundTripTime.map { abs($0.milliseconds - 42) < 2 } == true)
    }

    @Test("packets beyond the window are held, and the target is little more than the minimum")
    mutating func window() throws {
        for index in 0..<30 { frame(at: Double(index) * 33) }
        for _ in 0..<100 {
            let packet = SentPacket(transportSequence: sequence, size: .packet, sendTime: at(1000))
            sequence += 1
            controller.packetSent(packet, now: at(1000))
        }
        let decision = controller.advance(now: at(1001))
        #expect(try #require(decision.congestionWindow) < bytes(120_000))
        #expect(decision.targetBitRate < .kilobits(250))
        #expect(controller.snapshot.networkState == .overusing)
        #expect(try #require(decision.sustainedBitRate) > .megabits(2))
    }

    @Test("packets that wait at the sender lower the target and leave the window to the path")
    mutating func waiting() throws {
        for index in 0..<30 { frame(at: Double(index) * 33) }
        let before = controller.advance(now: at(1001))
        // A large keyframe: 200 ms of the link.
        controller.senderQueueChanged(bytes(100_000), now: at(1001))
        let after = controller.advance(now: at(1001))
        #expect(after.congestionWindow == before.congestionWindow)
        #expect(after.targetBitRate < before.targetBitRate * 0.5)
    }

    @Test("a frame that is encoded slowly may be as large as if the queue had drained meanwhile")
    mutating func frameDelay() throws {
        for index in 0..<30 { frame(at: Double(index) * 33) }
        // 15 ms of the link.
        for _ in 0..<6 {
            let packet = SentPacket(transportSequence: sequence, size: .packet, sendTime: at(1000))
            sequence += 1
            controller.packetSent(packet, now: at(1000))
        }
        var later = controller
        later.frameDelayChanged(.milliseconds(20), now: at(1001))
        let (atOnce, afterDelay) = (controller.advance(now: at(1001)), later.advance(now: at(1001)))
        #expect(atOnce.targetBitRate < .megabits(3))
        #expect(afterDelay.targetBitRate > .megabits(3))
        #expect(atOnce.congestionWindow == afterDelay.congestionWindow)
    }

    @Test("the sender decides when frames are skipped, unless the path carries less than the minimum rate")
    mutating func frameTimeout() {
        for index in 0..<30 { frame(at: Double(index) * 33) }
        #expect(controller.advance(now: at(1030)).frameTimeout == nil)
        for index in 0..<10 { frame(at: 1500 + Double(index) * 500, rate: .kilobits(100)) }
        #expect(controller.advance(now: at(6450)).frameTimeout == .milliseconds(30))
    }

    @Test("in silence a packet may leave each 100 ms, and no more")
    mutating func keepsAlive() throws {
        for index in 0..<30 { frame(at: Double(index) * 33) }
        var inFlight = 0
        for _ in 0..<100 {
            controller.packetSent(
                SentPacket(transportSequence: sequence, size: .packet, sendTime: at(1000)), now: at(1000))
            sequence += 1
            inFlight += 1200
        }
        var sent = 0
        for time in stride(from: 1000.0, to: 3000, by: 5) {
            let decision = controller.advance(now: at(time))
            if try #require(decision.congestionWindow) > bytes(inFlight) {
                controller.packetSent(
                    SentPacket(transportSequence: sequence, size: .packet, sendTime: at(time)), now: at(time))
                sequence += 1
                inFlight += 1200
                sent += 1
            }
        }
        #expect((10...16).contains(sent))
    }

    @Test("the receiver's estimate is an upper bound, and zero removes it")
    mutating func remoteEstimate() {
        for index in 0..<30 { frame(at: Double(index) * 33) }
        controller.remoteEstimateReceived(.megabits(1), now: at(1000))
        #expect(controller.advance(now: at(1000)).targetBitRate == .megabits(1))
        #expect(controller.snapshot.limit == .remoteEstimate)
        controller.remoteEstimateReceived(.zero, now: at(1000))
        #expect(controller.advance(now: at(1000)).targetBitRate > .megabits(3))
    }

    @Test("new limits hold at once")
    mutating func limits() {
        for index in 0..<30 { frame(at: Double(index) * 33) }
        controller.limitsChanged(
            RateLimits(minimum: .kilobits(100), start: .kilobits(300), maximum: .kilobits(600)), now: at(1000))
        #expect(controller.advance(now: at(1000)).targetBitRate == .kilobits(600))
    }

    @Test("with receiver reports alone losses move the rate")
    mutating func receiverReports() {
        for second in 1...30 {
            let now = at(Double(second) * 1000)
            controller.packetSent(SentPacket(transportSequence: 0, size: .packet, sendTime: now), now: now)
            controller.receiverReportReceived(fractionLost: 0, roundTripTime: .milliseconds(50), now: now)
            _ = controller.advance(now: now)
        }
        let grown = controller.advance(now: at(30_000)).targetBitRate
        #expect(grown > .kilobits(1000))
        for second in 31...35 {
            let now = at(Double(second) * 1000)
            controller.receiverReportReceived(fractionLost: 0.3, roundTripTime: .milliseconds(50), now: now)
            _ = controller.advance(now: now)
        }
        #expect(controller.advance(now: at(35_000)).targetBitRate < grown * 0.7)
        #expect(controller.snapshot.limit == .loss)
    }

    @Test("an unused rate does not grow beyond the measured capacity")
    mutating func applicationLimited() {
        for index in 0..<30 { frame(at: Double(index) * 33, rate: .megabits(1), size: 1000) }
        // Ten seconds of one small packet a frame: they measure nothing.
        for index in 30..<330 { frame(at: Double(index) * 33, packets: 1, size: 100) }
        #expect(controller.advance(now: at(11_000)).targetBitRate < .megabits(1.5))
    }

    @Test("while another bound leaves most of the path empty, the capacity does not grow unseen")
    mutating func bounded() throws {
        for index in 0..<30 { frame(at: Double(index) * 33) }
        controller.remoteEstimateReceived(.kilobits(300), now: at(1000))
        for index in 0..<300 { frame(at: 1000 + Double(index) * 60, packets: 1, size: 2400) }
        #expect(controller.advance(now: at(19_000)).targetBitRate == .kilobits(300))
        controller.remoteEstimateReceived(.zero, now: at(19_000))
        #expect(controller.advance(now: at(19_000)).targetBitRate < .megabits(5))
    }

    @Test("the first feedback asks for one burst of six times the start rate")
    mutating func startProbe() throws {
        frame(at: 0)
        let probes = controller.advance(now: at(50)).newProbeClusters
        #expect(probes.map(\.rate) == [.kilobits(1800)])
        frame(at: 33)
        #expect(controller.advance(now: at(90)).newProbeClusters.isEmpty)
        #expect(controller.snapshot.probeCount == 1)
    }

    @Test("a packet that was lost and sent again does not affect the delay estimate")
    mutating func repairedPacket() {
        for index in 0..<30 { frame(at: Double(index) * 33) }
        let packet = SentPacket(transportSequence: sequence - 1, size: .packet, sendTime: at(957))
        let results = [PacketResult(sent: packet, receiveTime: at(1700), wasReportedMissing: true)]
        controller.feedbackReceived(
            TransportFeedbackReport(results: results, feedbackTime: at(1720), dataInFlight: .zero), now: at(1720))
        #expect(controller.path.queueDelay < 0.02)
        #expect(controller.advance(now: at(1725)).targetBitRate > .megabits(3))
    }

    @Test("the first burst is left out where the queue is long already")
    mutating func noStartProbe() {
        frame(at: 0, rate: .kilobits(100))
        #expect(controller.advance(now: at(500)).newProbeClusters.isEmpty)
    }

    @Test("at most a second of the queue is taken for our own")
    mutating func ownQueue() throws {
        // Frames of one packet over 200 kbit/s, behind a queue of others that lasts and varies.
        for index in 0..<900 {
            let time = Double(index) * 33
            let queue = time < 2000 ? 0 : 2000 + (time / 40).truncatingRemainder(dividingBy: 300)
            let packet = SentPacket(transportSequence: sequence, size: bytes(600), sendTime: at(time))
            sequence += 1
            controller.packetSent(packet, now: at(time))
            let result = PacketResult(sent: packet, receiveTime: at(time + 44 + queue))
            controller.feedbackReceived(
                TransportFeedbackReport(results: [result], feedbackTime: at(time + 64), dataInFlight: .zero),
                now: at(time + 64))
        }
        let window = try #require(controller.advance(now: at(29_800)).congestionWindow)
        let capacity = try #require(controller.snapshot.linkCapacity)
        #expect(controller.path.competingDelay != nil)
        #expect(window <= max(capacity.dataSize(over: .milliseconds(1100)), bytes(2400)))
    }

    @Test("a pause in sending keeps the state of the path")
    mutating func pause() {
        for index in 0..<30 { frame(at: Double(index) * 33) }
        let before = controller.advance(now: at(1000)).targetBitRate
        for time in stride(from: 1000.0, to: 20_000, by: 100) { _ = controller.advance(now: at(time)) }
        #expect(abs(controller.advance(now: at(20_000)).targetBitRate / before - 1) < 0.05)
        #expect(controller.snapshot.networkState == .normal)
    }

    @Test("without any feedback the rate never falls below the minimum, nor is anything held after two seconds")
    mutating func noFeedback() {
        for step in 0..<600 {
            let now = at(Double(step) * 100)
            controller.packetSent(
                SentPacket(transportSequence: Int64(step), size: .packet, sendTime: now), now: now)
            let decision = controller.advance(now: now)
            #expect((decision.congestionWindow == nil) == (step >= 20))
            #expect(decision.targetBitRate >= .kilobits(150))
        }
    }

    @Test("marks of packets sent with ECT(1) bound the rate, and packets leave evenly")
    mutating func marks() throws {
        for index in 0..<30 { frame(at: Double(index) * 33, ecn: .capable1) }
        let before = controller.advance(now: at(1000))
        for index in 30..<60 { frame(at: Double(index) * 33, ecn: .congestionExperienced) }
        let decision = controller.advance(now: at(2000))
        #expect(decision.targetBitRate < before.targetBitRate * 0.5)
        #expect(decision.pacingBurst == .zero)
        #expect(controller.snapshot.limit == .loss || decision.targetBitRate == .kilobits(150))
    }

    @Test("every constant can be scaled by its name within bounds, and no other name is taken")
    func scaling() throws {
        for name in ConfrelayParameters.names {
            for factor in [0.001, 1.5, 1000] {
                #expect(try ConfrelayParameters(multiplying: [(name, factor)]) != ConfrelayParameters())
            }
        }
        #expect(throws: ConfrelayParameters.ScalingError.unknownName("nothing")) {
            try ConfrelayParameters(multiplying: [("nothing", 2)])
        }
        #expect(throws: ConfrelayParameters.ScalingError.repeatedName("drainTime")) {
            try ConfrelayParameters(multiplying: [("drainTime", 1000), ("growth", 2), ("drainTime", 1000)])
        }
        for factor in [0, -1, 0.0009, 1001, 1e300, .infinity] {
            #expect(throws: ConfrelayParameters.ScalingError.factorOutOfRange(factor)) {
                try ConfrelayParameters(multiplying: [("drainTime", factor)])
            }
        }
    }
}
