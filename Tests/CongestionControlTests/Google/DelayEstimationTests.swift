import MediaCore
import Testing

@testable import CongestionControl

@Suite("Delay estimation")
struct DelayEstimationTests {
    @Test("packets sent within 5 ms are one group, and groups are compared by their last packets")
    func grouping() {
        var interArrival = InterArrival()
        let packets: [(sent: Double, received: Double)] = [(0, 20), (3, 26), (20, 46), (24, 52), (40, 70)]
        var deltas: [InterArrival.Delta] = []
        for packet in packets {
            let delta = interArrival.add(
                sendTime: at(packet.sent), receiveTime: at(packet.received), size: .packet, now: at(packet.received))
            if let delta { deltas.append(delta) }
        }
        #expect(
            deltas == [
                InterArrival.Delta(
                    sendInterval: .milliseconds(21), receiveInterval: .milliseconds(26), size: .zero)
            ])
    }

    @Test("packets that arrive in one burst are one group although they were sent apart")
    func bursts() {
        var interArrival = InterArrival()
        var deltas = 0
        // Sent each 10 ms, let go in bursts of five each 50 ms.
        for index in 0..<100 {
            let received = Double(index / 5) * 50 + 60 + Double(index % 5) * 0.5
            let delta = interArrival.add(
                sendTime: at(Double(index) * 10), receiveTime: at(received), size: .packet, now: at(received))
            if delta != nil { deltas += 1 }
        }
        #expect(deltas == 18)
    }

    @Test("a receiver's clock that jumps ahead restarts the estimate")
    func clockJump() {
        var interArrival = InterArrival()
        for index in 0..<4 {
            _ = interArrival.add(
                sendTime: at(Double(index) * 20), receiveTime: at(Double(index) * 20), size: .packet,
                now: at(Double(index) * 20))
        }
        let jumped = interArrival.add(sendTime: at(80), receiveTime: at(10_080), size: .packet, now: at(80))
        #expect(jumped != nil)
        #expect(interArrival.add(sendTime: at(100), receiveTime: at(10_100), size: .packet, now: at(100)) == nil)
        // The earlier state is gone: two groups are needed again.
        #expect(interArrival.add(sendTime: at(120), receiveTime: at(10_120), size: .packet, now: at(120)) == nil)
    }

    private func slope(growthPerGroup: Double) -> Double {
        var trendline = TrendlineEstimator()
        for index in 0..<60 {
            let interval = 20 + growthPerGroup
            trendline.add(
                InterArrival.Delta(
                    sendInterval: .milliseconds(20), receiveInterval: .nanoseconds(Int64(interval * 1e6)), size: .zero),
                receiveTime: at(Double(index) * interval))
        }
        return trendline.slope
    }

    @Test("the slope has the sign of the delay's growth and about its size")
    func slopeSign() {
        #expect(slope(growthPerGroup: 0) == 0)
        // 2 ms more each 22 ms.
        #expect(abs(slope(growthPerGroup: 2) - 2.0 / 22) < 0.01)
        #expect(abs(slope(growthPerGroup: -2) + 2.0 / 18) < 0.01)
    }

    @Test("there is no slope before the window is full")
    func fullWindow() {
        var trendline = TrendlineEstimator()
        for index in 0..<19 {
            trendline.add(
                InterArrival.Delta(
                    sendInterval: .milliseconds(20), receiveInterval: .milliseconds(30), size: .zero),
                receiveTime: at(Double(index) * 30))
        }
        #expect(trendline.slope == 0)
    }

    @Test("overuse needs 10 ms above the threshold and two samples that do not fall")
    func overuse() {
        var detector = OveruseDetector()
        // 60 groups, a slope of 0.1: 60 · 0.1 · 4 = 24 ms, above the threshold of 12.5 ms.
        func update(_ slope: Double, _ time: Double) {
            detector.update(slope: slope, deltaCount: 60, sendInterval: .milliseconds(8), receiveTime: at(time))
        }
        update(0.1, 0)
        #expect(detector.state == .normal)
        update(0.1, 8)
        #expect(detector.state == .overusing)
        #expect(detector.trend == 24)

        detector = OveruseDetector()
        update(0.1, 0)
        update(0.09, 8)
        #expect(detector.state == .normal)

        update(-0.1, 16)
        #expect(detector.state == .underusing)
    }

    @Test("the threshold follows the trend: up slowly, down faster, and not after spikes")
    func thresholdAdaptation() {
        var detector = OveruseDetector()
        // A trend of 20 ms: the threshold of 12.5 grows by 0.0087 · 7.5 · 10 ms.
        detector.update(slope: 20.0 / 240, deltaCount: 60, sendInterval: .milliseconds(5), receiveTime: at(0))
        detector.update(slope: 20.0 / 240, deltaCount: 60, sendInterval: .milliseconds(5), receiveTime: at(10))
        #expect(abs(detector.threshold - (12.5 + 0.0087 * 7.5 * 10)) < 1e-9)

        detector = OveruseDetector()
        detector.update(slope: 0, deltaCount: 60, sendInterval: .milliseconds(5), receiveTime: at(0))
        detector.update(slope: 0, deltaCount: 60, sendInterval: .milliseconds(5), receiveTime: at(10))
        #expect(abs(detector.threshold - (12.5 - 0.039 * 12.5 * 10)) < 1e-9)
        for time in 2..<40 {
            detector.update(
                slope: 0, deltaCount: 60, sendInterval: .milliseconds(5), receiveTime: at(Double(time) * 10))
        }
        #expect(detector.threshold == 6)

        // 240 ms is no noise to get used to.
        detector.update(slope: 1, deltaCount: 60, sendInterval: .milliseconds(5), receiveTime: at(410))
        #expect(detector.threshold == 6)
    }
}
