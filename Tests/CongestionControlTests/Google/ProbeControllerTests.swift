import MediaCore
import Testing

@testable import CongestionControl

@Suite("Decisions on probes")
struct ProbeControllerTests {
    private let limits = RateLimits(minimum: .kilobits(100), start: .kilobits(300), maximum: .megabits(5))

    private func makeProbes() -> ProbeController { ProbeController(limits: limits, now: at(0)) }

    /// A controller whose initial probing is over.
    private func makeIdleProbes() -> ProbeController {
        var probes = makeProbes()
        probes.start(now: at(0))
        probes.advance(now: at(1100))
        _ = probes.takeClusters()
        return probes
    }

    private func rates(_ probes: inout ProbeController) -> [Double] {
        probes.takeClusters().map(\.rate.kilobitsPerSecond)
    }

    @Test("the first packet probes at 3 and 6 times the start rate for 15 ms and five packets, once")
    func start() {
        var probes = makeProbes()
        #expect(rates(&probes) == [])
        probes.start(now: at(0))
        let clusters = probes.takeClusters()
        #expect(clusters.map(\.rate) == [.kilobits(900), .kilobits(1800)])
        #expect(clusters.allSatisfy { $0.minimumDuration == .milliseconds(15) && $0.minimumPackets == 5 })
        probes.start(now: at(10))
        #expect(rates(&probes) == [])
    }

    @Test("a probe that brings over 70 % of its rate is followed by one at twice what it found")
    func further() {
        var probes = makeProbes()
        probes.start(now: at(0))
        _ = rates(&probes)
        // 70 % of 1800 are 1260.
        probes.setEstimate(.kilobits(1260), isProbingAllowed: true, now: at(100))
        #expect(rates(&probes) == [])
        probes.setEstimate(.kilobits(1300), isProbingAllowed: true, now: at(150))
        #expect(rates(&probes) == [2600])
        // Near the maximum it goes up to it and no further.
        probes.setEstimate(.kilobits(2600), isProbingAllowed: true, now: at(250))
        #expect(rates(&probes) == [5000])
        probes.setEstimate(.kilobits(5000), isProbingAllowed: true, now: at(350))
        #expect(rates(&probes) == [])
    }

    @Test("no result within a second ends the series")
    func timeout() {
        var probes = makeProbes()
        probes.start(now: at(0))
        _ = rates(&probes)
        probes.advance(now: at(1001))
        probes.setEstimate(.kilobits(2000), isProbingAllowed: true, now: at(1200))
        #expect(rates(&probes) == [])
    }

    @Test("while delay, round trips or losses limit the rate, there are no probes")
    func notAllowed() {
        var probes = makeProbes()
        probes.start(now: at(0))
        _ = rates(&probes)
        probes.setEstimate(.kilobits(2000), isProbingAllowed: false, now: at(100))
        #expect(rates(&probes) == [])
    }

    @Test("in the application-limited region a probe at twice the target goes out each five seconds")
    func limitedRegion() {
        var probes = makeIdleProbes()
        probes.setLimitedRegion(start: at(2000), now: at(2000))
        var times: [Double] = []
        for time in stride(from: 2000.0, to: 20_000, by: 100) {
            probes.advance(now: at(time))
            if rates(&probes) == [600] { times.append(time) }
        }
        // The first five seconds after the region began, the next after the probe before.
        #expect(times == [7000, 12_000, 17_000])
    }

    @Test("outside the region nothing is probed from time to time")
    func noRegion() {
        var probes = makeIdleProbes()
        probes.advance(now: at(60_000))
        #expect(rates(&probes) == [])
    }

    /// A target that fell from 2000 to 800 kbit/s six seconds after the start.
    private func drop(_ probes: inout ProbeController) {
        probes.setEstimate(.kilobits(2000), isProbingAllowed: true, now: at(3000))
        probes.setEstimate(.kilobits(800), isProbingAllowed: true, now: at(6000))
    }

    @Test("after a large drop near the application-limited region 85 % of the rate of before are tried")
    func afterDrop() {
        var probes = makeIdleProbes()
        probes.setLimitedRegion(start: at(2000), now: at(2000))
        drop(&probes)
        probes.setLimitedRegion(start: nil, now: at(6500))
        probes.recovered(now: at(7000))
        #expect(rates(&probes) == [1700])
        probes.recovered(now: at(8000))
        #expect(rates(&probes) == [])
    }

    @Test("away from the region, or five seconds after the drop, that is not done")
    func noRecovery() {
        var probes = makeIdleProbes()
        drop(&probes)
        probes.recovered(now: at(7000))
        #expect(rates(&probes) == [])
        probes.setLimitedRegion(start: at(11_000), now: at(11_000))
        probes.recovered(now: at(12_000))
        #expect(rates(&probes) == [])
    }

    @Test("a maximum that grows is probed")
    func maximum() {
        var probes = makeIdleProbes()
        probes.setRange(.kilobits(100) ... .megabits(4), now: at(2000))
        #expect(rates(&probes) == [])
        probes.setRange(.kilobits(100) ... .megabits(6), now: at(3000))
        #expect(rates(&probes) == [6000])
    }

    @Test("demand that changes in the region is probed, up to twice the target")
    func demand() {
        var probes = makeIdleProbes()
        probes.setDemand(.kilobits(500), now: at(2000))
        #expect(rates(&probes) == [])
        probes.setLimitedRegion(start: at(2000), now: at(2000))
        // 400 and 800, of which the second is cut at twice the target.
        probes.setDemand(.kilobits(400), now: at(2500))
        #expect(rates(&probes) == [400, 600])
        // Waiting for the result it asks no more.
        probes.setDemand(.kilobits(450), now: at(2600))
        #expect(rates(&probes) == [])
        probes.advance(now: at(4000))
        probes.setDemand(.megabits(2), now: at(4000))
        #expect(rates(&probes) == [600])
    }

    @Test("probes stay below twice the demand")
    func demandBound() {
        var probes = makeProbes()
        probes.setDemand(.kilobits(400), now: at(0))
        probes.start(now: at(0))
        #expect(rates(&probes) == [800, 800])
    }
}
