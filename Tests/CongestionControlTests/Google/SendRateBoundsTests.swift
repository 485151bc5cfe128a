import MediaCore
import Testing

@testable import CongestionControl

@Suite("Bounds of the send rate")
struct SendRateBoundsTests {
    private let limits = RateLimits(minimum: .kilobits(100), start: .kilobits(1000), maximum: .megabits(5))

    /// A report each second with this loss.
    private func run(_ bounds: inout SendRateBounds, loss: Double, seconds: Int, from start: Int = 0) {
        for second in start..<start + seconds {
            bounds.addLossReport(loss, now: at(Double(second) * 1000))
        }
    }

    @Test("below 2 % lost the target grows by 8 % a second")
    func growth() {
        var bounds = SendRateBounds(limits: limits)
        run(&bounds, loss: 0.01, seconds: 1)
        run(&bounds, loss: 0.01, seconds: 10, from: 1)
        // Each time over the lowest of the second before, which is the target then.
        var expected = 1000.0
        for _ in 0..<11 { expected = expected * 1.08 + 1 }
        #expect(abs(bounds.target.kilobitsPerSecond - expected) < 1)
    }

    @Test("from 2 % to 10 % lost the target stays")
    func hold() {
        var bounds = SendRateBounds(limits: limits)
        run(&bounds, loss: 0.05, seconds: 10)
        #expect(bounds.target == .kilobits(1000))
    }

    @Test("above 10 % lost the target falls by half of the loss, once a report")
    func decrease() {
        var bounds = SendRateBounds(limits: limits)
        bounds.roundTripTime = .milliseconds(100)
        bounds.addLossReport(0.2, now: at(1000))
        #expect(bounds.target == .kilobits(900))
        bounds.update(now: at(1700))
        #expect(bounds.target == .kilobits(900))
        bounds.addLossReport(0.2, now: at(2000))
        #expect(bounds.target == .kilobits(810))
        #expect(bounds.limit == .loss)
    }

    @Test("two reports within a round trip and 300 ms count as one")
    func decreaseInterval() {
        var bounds = SendRateBounds(limits: limits)
        bounds.roundTripTime = .milliseconds(100)
        bounds.addLossReport(0.2, now: at(1000))
        bounds.addLossReport(0.2, now: at(1300))
        #expect(bounds.target == .kilobits(900))
    }

    @Test("feedback counts over a second and at least 20 packets, and late packets are not lost")
    func lossFromFeedback() {
        var bounds = SendRateBounds(limits: limits)
        func results(lost: Int, late: Int = 0) -> [PacketResult] {
            (0..<40).map { index in
                let sent = SentPacket(transportSequence: Int64(index), size: .packet, sendTime: at(0))
                return PacketResult(sent: sent, receiveTime: index < lost ? nil : at(0))
            }
                + (0..<late).map { index in
                    let sent = SentPacket(transportSequence: Int64(index), size: .packet, sendTime: at(0))
                    return PacketResult(sent: sent, receiveTime: at(0), wasReportedMissing: true)
                }
        }
        bounds.addFeedback(results(lost: 20), now: at(0))
        #expect(bounds.fractionLost == 0)
        bounds.addFeedback(results(lost: 0, late: 12), now: at(1000))
        #expect(bounds.fractionLost == 0.1)
    }

    @Test("the target stays within the bounds of the delay, the receiver and the limits")
    func upperBounds() {
        var bounds = SendRateBounds(limits: limits)
        bounds.setDelayBound(.kilobits(700), now: at(0))
        #expect(bounds.target == .kilobits(700))
        bounds.setRemoteEstimate(.kilobits(400))
        #expect(bounds.target == .kilobits(400))
        #expect(bounds.limit == .remoteEstimate)
        bounds.setRemoteEstimate(.kilobits(1))
        #expect(bounds.target == .kilobits(100))
        bounds.setRemoteEstimate(.zero)
        bounds.setProbeResult(.megabits(50))
        #expect(bounds.target == .megabits(5))
    }

    @Test("nonsense for a fraction is taken for none or all")
    func nonsense() {
        var bounds = SendRateBounds(limits: limits)
        bounds.addLossReport(.nan, now: at(0))
        #expect(bounds.fractionLost == 0)
        bounds.addLossReport(7, now: at(1000))
        #expect(bounds.fractionLost == 1)
        #expect(bounds.target >= limits.minimum)
    }
}
