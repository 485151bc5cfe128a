import MediaCore
import Testing

@testable import RateControl

@Suite("When to probe")
struct ProbeControllerTests {
    private let limits = RateLimits(minimum: .kilobits(100), start: .kilobits(300), maximum: .megabits(5))

    private func rates(_ probes: inout ProbeController) -> [Double] {
        probes.takeClusters().map(\.rate.kilobitsPerSecond)
    }

    @Test("the first packet probes at 3 and 6 times the start rate, once")
    func start() {
        var probes = ProbeController(limits: limits)
        #expect(rates(&probes) == [])
        probes.start(now: at(0))
        #expect(rates(&probes) == [900, 1800])
        probes.start(now: at(10))
        #expect(rates(&probes) == [])
    }

    @Test("a probe that succeeds is followed by one at twice what it found")
    func further() {
        var probes = ProbeController(limits: limits)
        probes.start(now: at(0))
        _ = rates(&probes)
        probes.setEstimate(.kilobits(1200), now: at(100))
        #expect(rates(&probes) == [])
        probes.setEstimate(.kilobits(1300), now: at(150))
        #expect(rates(&probes) == [2600])
        // Near the maximum it goes up to it and no further.
        probes.setEstimate(.kilobits(2600), now: at(250))
        #expect(rates(&probes) == [5000])
        probes.setEstimate(.kilobits(5000), now: at(350))
        #expect(rates(&probes) == [])
    }

    @Test("no result within a second ends the series")
    func timeout() {
        var probes = ProbeController(limits: limits)
        probes.start(now: at(0))
        _ = rates(&probes)
        probes.advance(canProbe: true, now: at(1100))
        probes.setEstimate(.kilobits(2000), now: at(1200))
        #expect(rates(&probes) == [])
    }

    @Test("when delay is normal again after a large drop, the rate of before is tried")
    func afterDrop() {
        var probes = ProbeController(limits: limits)
        probes.start(now: at(0))
        probes.setEstimate(.kilobits(2000), now: at(100))
        probes.advance(canProbe: true, now: at(2000))
        _ = rates(&probes)
        probes.setEstimate(.kilobits(800), now: at(6000))
        probes.recovered(now: at(7000))
        #expect(rates(&probes) == [1700])
        probes.recovered(now: at(8000))
        #expect(rates(&probes) == [])
    }

    @Test("while there is more to send than the target, a probe goes out every 5 s, less often when it brings nothing")
    func periodic() {
        var probes = ProbeController(limits: limits)
        probes.start(now: at(0))
        probes.advance(canProbe: true, now: at(2000))
        _ = rates(&probes)
        var times: [Double] = []
        for time in stride(from: 2000.0, to: 40_000, by: 100) {
            probes.advance(canProbe: true, now: at(time))
            if rates(&probes) == [600] { times.append(time) }
        }
        #expect(times == [5000, 12_500, 22_500, 32_500])
    }

    @Test("nothing is probed on a path that is full, nor beyond what there is to send")
    func noProbe() {
        var probes = ProbeController(limits: limits)
        probes.start(now: at(0))
        _ = rates(&probes)
        probes.advance(canProbe: false, now: at(10_000))
        #expect(rates(&probes) == [])
        probes.setDemand(.kilobits(300), now: at(11_000))
        probes.advance(canProbe: true, now: at(20_000))
        #expect(rates(&probes) == [])
        probes.setDemand(.kilobits(350), now: at(21_000))
        #expect(rates(&probes) == [350, 600])
    }
}
