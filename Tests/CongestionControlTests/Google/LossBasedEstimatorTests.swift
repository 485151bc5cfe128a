import MediaCore
import Testing

@testable import CongestionControl

@Suite("The rate that losses allow")
struct LossBasedEstimatorTests {
    /// An estimator that is told an observation each 250 ms: packets of 1000 bytes.
    private struct Path {
        var estimator = LossBasedEstimator(range: .kilobits(100) ... .megabits(8))
        var time = 0.0
        private var sequence: Int64 = 0

        init() {}

        /// Sends at a rate with a loss, and reports the packets; returns the estimate in kbit/s.
        @discardableResult
        mutating func observe(
            kilobits: Double, loss: Double, acknowledged: Double? = nil, delayBased: Double, count: Int = 1,
            isApplicationLimited: Bool = false
        ) -> Double? {
            for _ in 0..<count {
                let packets = Int((kilobits * 0.25 / 8).rounded())
                let lost = Int((Double(packets) * loss).rounded())
                estimator.setAcknowledged(.kilobits(acknowledged ?? kilobits * (1 - loss)))
                let report = lossReport(packets, lost: lost, from: time + 1, to: time + 250, sequence: sequence)
                estimator.update(
                    report, delayBased: .kilobits(delayBased), isApplicationLimited: isApplicationLimited)
                time += 250
                sequence += Int64(packets)
            }
            return estimator.rate?.kilobitsPerSecond
        }
    }

    @Test("three observations are needed")
    func ready() {
        var path = Path()
        // The first lasts from its own first packet on, 249 ms, and goes into the second.
        path.observe(kilobits: 1000, loss: 0, delayBased: 1000, count: 3)
        #expect(path.estimator.rate == nil)
        let rate = path.observe(kilobits: 1000, loss: 0, delayBased: 1000)
        #expect(rate == 1000)
    }

    @Test("without loss the delay-based rate is followed at once")
    func noLoss() {
        var path = Path()
        path.observe(kilobits: 1000, loss: 0, delayBased: 1000, count: 6)
        let risen = path.observe(kilobits: 1000, loss: 0, delayBased: 3000)
        #expect(risen == 3000)
        let fallen = path.observe(kilobits: 700, loss: 0, delayBased: 800)
        #expect(fallen == 800)
        #expect(path.estimator.state == .delayBased)
    }

    @Test("the acknowledged rate bounds the rate from below, at any loss")
    func lowerBound() {
        var path = Path()
        path.observe(kilobits: 1000, loss: 0, delayBased: 1000, count: 6)
        let rate = path.observe(kilobits: 1000, loss: 0.3, acknowledged: 700, delayBased: 1000, count: 12)
        #expect((rate ?? 0) >= 700)
        #expect((rate ?? 0) < 1000)
    }

    @Test("the average loss bounds the rate from above: 100 kbit/s divided by the excess over 5 %")
    func upperBound() throws {
        var path = Path()
        path.observe(kilobits: 2000, loss: 0.25, acknowledged: 200, delayBased: 2000, count: 20)
        let excess = path.estimator.observations.averageLoss - 0.05
        #expect(excess > 0.15)
        #expect(try #require(path.estimator.rate).kilobitsPerSecond <= 100 / excess + 0.01)
        #expect(path.estimator.state != .delayBased)
    }

    @Test("a path that loses 2 % by itself does not stop growth once that is known")
    func inherentLoss() throws {
        var path = Path()
        path.observe(kilobits: 2000, loss: 0.02, delayBased: 2000, count: 30)
        let estimate = path.estimator.estimate
        #expect((path.estimator.rate?.kilobitsPerSecond ?? 0) > 1900)
        #expect(try #require(estimate).inherentLoss < 0.05)
    }

    /// A path on which 1 Mbit/s of 2 get through.
    private func congested() -> Path {
        var path = Path()
        path.observe(kilobits: 2000, loss: 0, delayBased: 2000, count: 6)
        path.observe(kilobits: 2000, loss: 0.5, acknowledged: 1000, delayBased: 2000, count: 8)
        return path
    }

    @Test("after a decrease the rate is held: 300 ms first")
    func hold() {
        let path = congested()
        #expect(path.estimator.state == .decreasing)
        let rate = path.estimator.rate?.kilobitsPerSecond ?? 0
        #expect(abs(rate - 1000) < 50)
    }

    @Test("after losses the rate grows in steps, with padding")
    func recovery() {
        var path = congested()
        let before = path.estimator.rate?.kilobitsPerSecond ?? 0
        var states: Set<LossBasedEstimator.State> = []
        var last = before
        for _ in 0..<40 {
            let rate = path.observe(kilobits: last, loss: 0, delayBased: 2000) ?? 0
            states.insert(path.estimator.state)
            // 30 % in 300 ms and half more than acknowledged are the most.
            #expect(rate <= last * 1.5 + 0.1)
            last = rate
        }
        #expect(states.contains(.increasing))
        #expect(last == 2000)
        #expect(path.estimator.state == .delayBased)
    }

    @Test("the acknowledged rate of an application that sends little is no candidate")
    func applicationLimited() {
        var limited = Path()
        limited.observe(kilobits: 2000, loss: 0, delayBased: 2000, count: 6)
        limited.observe(
            kilobits: 400, loss: 0.1, acknowledged: 360, delayBased: 2000, count: 4, isApplicationLimited: true)
        var full = Path()
        full.observe(kilobits: 2000, loss: 0, delayBased: 2000, count: 6)
        full.observe(kilobits: 400, loss: 0.1, acknowledged: 360, delayBased: 2000, count: 4)
        #expect((limited.estimator.rate ?? .zero) >= (full.estimator.rate ?? .zero))
    }

    @Test("the rate stays at or above the minimum")
    func minimum() {
        var path = Path()
        path.observe(kilobits: 400, loss: 0.9, acknowledged: 40, delayBased: 400, count: 40)
        #expect((path.estimator.rate ?? .zero) >= .kilobits(100))
    }
}
