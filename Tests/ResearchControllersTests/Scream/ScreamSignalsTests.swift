import MediaCore
import RTP
import Testing

@testable import CongestionControl
@testable import ResearchControllers

@Suite("Measurements of SCReAM")
struct ScreamSignalsTests {
    // MARK: Delay

    @Test("the base delay is the shortest of the last times of ten seconds, until it is reset")
    func baseDelay() {
        var base = BaseDelayHistory()
        #expect(base.value == .infinity)
        base.add(0.03, now: at(0))
        base.add(0.02, now: at(5000))
        base.add(0.05, now: at(10_000))
        base.add(0.06, now: at(11_000))
        #expect(base.value == 0.02)
        // Forty-nine times later the shortest is still among them, and one later no more.
        for second in 12..<490 { base.add(0.06, now: at(Double(second) * 1000)) }
        #expect(base.value == 0.02)
        for second in 490..<530 { base.add(0.06, now: at(Double(second) * 1000)) }
        #expect(base.value == 0.06)
        base.reset(now: at(530_000))
        base.add(0.09, now: at(530_000))
        #expect(base.value == 0.09)
    }

    @Test("the round trip is smoothed by eighths, twice")
    func roundTrip() {
        var roundTrip = SmoothedRoundTrip(now: at(0))
        roundTrip.add(0.13, isApplicationLimited: false, now: at(50))
        #expect(abs(roundTrip.short - 0.06) < 1e-9)
        #expect(roundTrip.value == 0.05)
        roundTrip.add(0.06, isApplicationLimited: false, now: at(61))
        #expect(abs(roundTrip.value - 0.05125) < 1e-9)
        roundTrip.add(-1, isApplicationLimited: false, now: at(200))
        #expect(abs(roundTrip.short - 0.06) < 1e-9)
    }

    @Test("while the source makes too little, the round trip falls slowly")
    func applicationLimited() {
        var roundTrip = SmoothedRoundTrip(now: at(0))
        roundTrip.add(0.01, isApplicationLimited: true, now: at(100))
        #expect(abs(roundTrip.short - 0.045) < 1e-9)
        #expect(abs(roundTrip.value - (0.05 - 0.005 / 1024)) < 1e-9)
    }

    @Test("the average delay rises by quarters and falls at once")
    func average() {
        var delays = QueueDelayAverages(now: at(0))
        func update(_ delay: Double, at time: Double) {
            delays.update(delay: delay, roundTrip: 0.05, interval: 0.03, hasBeenCongested: false, now: at(time))
        }
        update(0.04, at: 31)
        #expect(abs(delays.average - 0.01) < 1e-9)
        update(0.04, at: 50)
        #expect(abs(delays.average - 0.01) < 1e-9)
        update(0.04, at: 62)
        #expect(abs(delays.average - 0.0175) < 1e-9)
        update(0.005, at: 93)
        #expect(delays.average == 0.005)
        #expect(delays.windowScale == 1)
    }

    @Test("once there was congestion, a delay that varies scales the window down, and up again slowly")
    func variation() {
        var delays = QueueDelayAverages(now: at(0))
        delays.update(delay: 0.1, roundTrip: 0.05, interval: 0.03, hasBeenCongested: true, now: at(31))
        // 50·(0.1/5 - 0.1/50 - 0.002).
        #expect(abs(delays.windowScale - 0.2) < 1e-9)
        var time = 31.0
        for _ in 0..<200 {
            time += 31
            delays.update(delay: 0, roundTrip: 0.05, interval: 0.03, hasBeenCongested: true, now: at(time))
        }
        #expect(delays.windowScale == 1)
    }

    @Test("a queue that never drains is found over hundreds of round trips")
    func standing() {
        var delays = QueueDelayAverages(now: at(0))
        delays.recordShortest(0.03)
        delays.recordShortest(0.016)
        delays.update(delay: 0.02, roundTrip: 0.05, interval: 0.03, hasBeenCongested: false, now: at(4000))
        #expect(delays.standing == 0)
        delays.update(delay: 0.02, roundTrip: 0.05, interval: 0.03, hasBeenCongested: false, now: at(5001))
        #expect(abs(delays.standing - 0.002) < 1e-9)
        delays.resetStanding()
        #expect(delays.standing == 0)
    }

    // MARK: Marks and losses

    @Test("the part of marked packets rises by eighths and falls by 1/128")
    func marking() {
        var marks = MarkingAverage(gainUp: 1.0 / 8, gainDown: 1.0 / 128, now: at(0))
        for index in 0..<16 { marks.packetArrived(isMarked: index < 8) }
        marks.update(roundTrip: 0.05, now: at(10))
        #expect(marks.value == 0)
        marks.update(roundTrip: 0.05, now: at(11))
        #expect(marks.value == 0.0625)
        #expect(marks.lastFraction == 0.5)
        marks.packetArrived(isMarked: false)
        marks.update(roundTrip: 0.05, now: at(22))
        #expect(abs(marks.value - 0.0625 * 127 / 128) < 1e-12)
    }

    private func result(_ sequence: Int64, at time: Double, received: Bool, late: Bool = false) -> PacketResult {
        PacketResult(
            sent: SentPacket(transportSequence: sequence, size: .packet, sendTime: at(time)),
            receiveTime: received ? at(time + 20) : nil, wasReportedMissing: late)
    }

    @Test("a missing packet is lost once one sent 30 ms later arrived")
    func reordering() {
        var losses = ReorderingWindow(length: .milliseconds(30), rateThreshold: 0.01)
        losses.add(result(0, at: 0, received: false), windowPackets: 10)
        losses.add(result(1, at: 30, received: true), windowPackets: 10)
        var lost = losses.takeLost(windowPackets: 10)
        #expect(lost == 0)
        losses.add(result(2, at: 31, received: true), windowPackets: 10)
        lost = losses.takeLost(windowPackets: 10)
        #expect(lost == 1)
        // A quarter of the threshold is the gain: below half of the inverse of ten packets.
        #expect(abs(losses.lossRate - 0.0025) < 1e-9)
        lost = losses.takeLost(windowPackets: 10)
        #expect(lost == 0)
    }

    @Test("a late packet is not lost")
    func late() {
        var losses = ReorderingWindow(length: .milliseconds(30), rateThreshold: 0.01)
        losses.add(result(0, at: 0, received: false), windowPackets: 10)
        losses.add(result(0, at: 0, received: true, late: true), windowPackets: 10)
        losses.add(result(1, at: 100, received: true), windowPackets: 10)
        let lost = losses.takeLost(windowPackets: 10)
        #expect(lost == 0)
        #expect(losses.lossRate == 0)
    }

    // MARK: Sending

    @Test("the maximum in flight of this and of the previous period is kept, and a long-term one")
    func inFlight() {
        var flight = BytesInFlightHistory(now: at(0))
        flight.add(5000)
        let isEarly = flight.rotate(now: at(40))
        #expect(!isEarly)
        let isDue = flight.rotate(now: at(51))
        #expect(isDue)
        // At the beginning the maxima stay.
        #expect(flight.maximum == 5000)
        flight.add(9000)
        _ = flight.rotate(now: at(2001))
        #expect(flight.maximum == 0)
        #expect(flight.previousMaximum == 9000)
        flight.add(1000)
        _ = flight.rotate(now: at(2052))
        #expect(flight.previousMaximum == 1000)
        #expect(flight.longMaximum == 9000)
    }

    @Test("the largest packet is that of the last one or two seconds")
    func largestPacket() {
        var largest = LargestPacket(now: at(0))
        #expect(largest.value == 1200)
        largest.add(bytes(900), now: at(500))
        largest.add(bytes(200), now: at(1001))
        #expect(largest.value == 900)
        largest.add(bytes(200), now: at(2002))
        #expect(largest.value == 200)
    }

    @Test("the oldest frame that waits at the sender is the first of the remaining ones")
    func senderDelay() {
        var queue = SenderQueue(maximumFramePacing: 1.5, now: at(0))
        queue.update(size: bytes(4000), target: 1e6, now: at(0))
        #expect(queue.delay(now: at(20)) == 0.02)
        for _ in 0..<2 { queue.packetSent(bytes(1000)) }
        queue.update(size: bytes(6000), target: 1e6, now: at(33))
        #expect(queue.delay(now: at(40)) == 0.04)
        for _ in 0..<3 { queue.packetSent(bytes(1000)) }
        queue.update(size: bytes(3000), target: 1e6, now: at(50))
        #expect(abs(queue.delay(now: at(53)) - 0.02) < 1e-9)
        for _ in 0..<3 { queue.packetSent(bytes(1000)) }
        queue.update(size: .zero, target: 1e6, now: at(60))
        #expect(queue.delay(now: at(70)) == 0)
    }

    @Test("a frame larger than usual leaves faster, up to half more")
    func framePacing() {
        var queue = SenderQueue(maximumFramePacing: 1.5, now: at(0))
        // 25 frames a second at 1 Mbit/s are 5000 bytes each.
        for index in 0..<20 {
            queue.packetSent(bytes(5000))
            queue.update(size: .zero, target: 1e6, now: at(Double(index) * 40))
        }
        #expect(abs(queue.framePacing - 1) < 0.01)
        #expect(abs(queue.mediaRate - 1e6) < 1)
        queue.packetSent(bytes(6000))
        queue.update(size: .zero, target: 1e6, now: at(800))
        #expect(abs(queue.framePacing - 1.2) < 0.01)
        queue.packetSent(bytes(50_000))
        queue.update(size: .zero, target: 1e6, now: at(840))
        #expect(queue.framePacing == 1.5)
    }

    @Test("frames that find others waiting lower the target, by a third at most")
    func rateAdjustment() {
        var queue = SenderQueue(maximumFramePacing: 1.5, now: at(0))
        for index in 0..<10 {
            queue.packetSent(bytes(5000))
            queue.update(size: .zero, target: 1e6, now: at(Double(index) * 40))
        }
        #expect(queue.rateAdjustment == 0)
        queue.update(size: bytes(5000), target: 1e6, now: at(400))
        queue.update(size: bytes(10_000), target: 1e6, now: at(440))
        // 0.2·(40 - 20)/40, an eighth of it.
        #expect(abs(queue.rateAdjustment - 0.0125) < 1e-4)
        for index in 0..<200 {
            queue.update(size: bytes(15_000 + 5000 * index), target: 1e6, now: at(480 + Double(index) * 40))
        }
        #expect(queue.rateAdjustment == 0.5)
    }
}
