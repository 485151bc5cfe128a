import MediaCore
import Testing

@testable import CongestionControl

@Suite("Additive increase, multiplicative decrease")
struct AIMDRateControlTests {
    private func makeControl(_ start: BitRate = .megabits(1)) -> AIMDRateControl {
        AIMDRateControl(start: start, minimum: .kilobits(100))
    }

    /// Sends a normal update each 50 ms for `duration`, with the target as the throughput; returns the last time.
    @discardableResult
    private func grow(_ control: inout AIMDRateControl, from start: Double, for duration: Double) -> Double {
        var time = start
        while time < start + duration {
            time += 50
            _ = control.update(networkState: .normal, acknowledged: control.rate, now: at(time))
        }
        return time
    }

    @Test("far from the known capacity the rate grows by 8 % a second")
    func multiplicativeIncrease() {
        var control = makeControl()
        grow(&control, from: 0, for: 1000)
        // The first update only starts the clock.
        #expect(abs(control.rate.kilobitsPerSecond - 1000 * 1.0758) < 5)
    }

    @Test("overuse sets the rate to 85 % of the arriving rate, minus 5 kbit/s")
    func decrease() {
        var control = makeControl()
        grow(&control, from: 0, for: 500)
        let rate = control.update(networkState: .overusing, acknowledged: .kilobits(800), now: at(600))
        #expect(rate == .kilobits(675))
        #expect(control.capacity.rate == .kilobits(800))
    }

    @Test("overuse never raises the rate")
    func decreaseOnly() {
        var control = makeControl(.kilobits(400))
        let rate = control.update(networkState: .overusing, acknowledged: .kilobits(900), now: at(100))
        #expect(rate == .kilobits(400))
    }

    @Test("near the known capacity the rate grows by a packet per response time")
    func additiveIncrease() {
        var control = makeControl()
        control.roundTripTime = .milliseconds(100)
        _ = control.update(networkState: .overusing, acknowledged: .kilobits(1000), now: at(0))
        #expect(control.rate == .kilobits(845))
        grow(&control, from: 50, for: 500)
        // 845 kbit/s at 30 fps: 3 packets of 9389 bits a frame; response time 2 · (100 + 100) ms: 23.5 kbit/s a second.
        // The first of the ten updates only starts the clock.
        #expect(abs(control.rate.kilobitsPerSecond - 845 - 23.5 * 0.45) < 0.2)
    }

    @Test("a longer round trip makes additive increase slower, down to 4 kbit/s a second")
    func responseTime() {
        var control = makeControl()
        control.roundTripTime = .milliseconds(100)
        // 1 Mbit/s: 33 333 bits a frame in 4 packets of 8333 bits.
        #expect(abs(control.additiveGrowthPerSecond - 8333.3 / 0.4) < 1)
        control.roundTripTime = .milliseconds(400)
        #expect(abs(control.additiveGrowthPerSecond - 8333.3 / 1) < 1)
        control.roundTripTime = .seconds(2)
        #expect(control.additiveGrowthPerSecond == 4000)
    }

    @Test("more arriving than the known capacity explains ends additive increase")
    func capacityGone() {
        var control = makeControl()
        _ = control.update(networkState: .overusing, acknowledged: .kilobits(1000), now: at(0))
        _ = control.update(networkState: .normal, acknowledged: .kilobits(1100), now: at(50))
        #expect(control.capacity.rate == nil)
    }

    @Test("shrinking delay holds the rate")
    func hold() {
        var control = makeControl()
        let time = grow(&control, from: 0, for: 500)
        let rate = control.rate
        for index in 1...10 {
            _ = control.update(networkState: .underusing, acknowledged: rate, now: at(time + Double(index) * 50))
        }
        #expect(control.rate == rate)
    }

    @Test("an idle application does not make the rate grow beyond 1.5 times what arrives and 10 kbit/s")
    func applicationLimited() {
        var control = makeControl(.kilobits(300))
        for index in 0..<2000 {
            _ = control.update(networkState: .normal, acknowledged: .kilobits(250), now: at(Double(index) * 50))
        }
        #expect(control.rate == .kilobits(385))
    }

    @Test("the rate stays at or above the minimum")
    func minimum() {
        var control = makeControl()
        #expect(control.update(networkState: .overusing, acknowledged: .kilobits(1), now: at(0)) == .kilobits(100))
    }

    @Test("a further decrease waits a round trip, unless hardly anything arrives")
    func repeatedDecrease() {
        var control = makeControl()
        control.roundTripTime = .milliseconds(150)
        _ = control.update(networkState: .overusing, acknowledged: .kilobits(1000), now: at(1000))
        #expect(!control.isTimeToReduceFurther(throughput: .kilobits(800), now: at(1100)))
        #expect(control.isTimeToReduceFurther(throughput: .kilobits(800), now: at(1150)))
        #expect(control.isTimeToReduceFurther(throughput: .kilobits(400), now: at(1010)))
    }
}
