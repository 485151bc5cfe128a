import MediaCore
import Testing

@testable import CongestionControl

@Suite("The delay of an empty path")
struct BaseDelayTests {
    private var base = BaseDelay(SharedParameters(ConfrelayParameters()))

    private mutating func add(_ milliseconds: (Double) -> Double, from start: Double, to end: Double) {
        for time in stride(from: start, to: end, by: 20) {
            base.add(milliseconds(time) / 1e3, jitter: 0, now: at(time))
        }
    }

    @Test("it is the lowest delay")
    mutating func lowest() {
        add({ 50 + ($0 / 20).truncatingRemainder(dividingBy: 3) * 5 }, from: 0, to: 5000)
        #expect(base.value == 0.05)
    }

    @Test("it follows a clock that drifts by 100 ppm")
    mutating func drift() throws {
        add({ 50 + $0 * 1e-4 }, from: 0, to: 120_000)
        let value = try #require(base.value)
        #expect(abs(value * 1e3 - 62) < 2.5)
    }

    @Test("a longer route becomes the base when a pause did not make it go, and no competition is seen in it")
    mutating func route() {
        add({ _ in 50 }, from: 0, to: 5000)
        add({ _ in 90 }, from: 5000, to: 7200)
        #expect(base.needsProbe(now: at(7200)))
        #expect(base.value == 0.05)
        base.probed(now: at(7500))
        add({ _ in 90 }, from: 7500, to: 7600)
        #expect(!base.needsProbe(now: at(7600)))
        #expect(base.value == 0.09)
        #expect(base.competingDelay == nil)
    }

    @Test("a queue that stays and varies is others', until it is seen empty")
    mutating func competition() throws {
        add({ _ in 50 }, from: 0, to: 5000)
        add({ 150 + ($0 / 20).truncatingRemainder(dividingBy: 40) * 2 }, from: 5000, to: 8000)
        base.probed(now: at(8000))
        add({ 150 + ($0 / 20).truncatingRemainder(dividingBy: 40) * 2 }, from: 8000, to: 9000)
        let delay = try #require(base.competingDelay)
        #expect(delay >= 0.1)
        add({ _ in 55 }, from: 9000, to: 9100)
        #expect(base.competingDelay == nil)
    }

    @Test("the owner of the queue is checked again after ten seconds, and after twenty once others owned it")
    mutating func asksAgain() {
        add({ _ in 50 }, from: 0, to: 5000)
        let others = { (time: Double) in 150 + (time / 20).truncatingRemainder(dividingBy: 40) * 2 }
        add(others, from: 5000, to: 8000)
        base.probed(now: at(8000))
        add(others, from: 8000, to: 17_900)
        #expect(base.competingDelay != nil)
        #expect(!base.needsProbe(now: at(17_900)))
        #expect(base.needsProbe(now: at(18_100)))
        base.probed(now: at(18_500))
        add(others, from: 18_500, to: 30_000)
        #expect(!base.needsProbe(now: at(38_400)))
        #expect(base.needsProbe(now: at(38_600)))
    }

    @Test("on a slow path a packet's own time is no queue")
    mutating func slowPath() {
        for time in stride(from: 0.0, to: 10_000, by: 20) {
            let delay = 50 + (time / 20).truncatingRemainder(dividingBy: 3) * 30
            base.add((time < 100 ? 50 : max(delay, 80)) / 1e3, jitter: 0, packetTime: 0.08, now: at(time))
        }
        #expect(base.value == 0.05)
        #expect(!base.needsProbe(now: at(7000)))
    }

    @Test("a queue that goes when sending pauses is not others'")
    mutating func yields() {
        add({ _ in 50 }, from: 0, to: 5000)
        add({ 100 + ($0 / 20).truncatingRemainder(dividingBy: 40) }, from: 5000, to: 7200)
        #expect(base.needsProbe(now: at(7200)))
        add({ _ in 51 }, from: 7200, to: 7300)
        base.probed(now: at(7300))
        add({ 100 + ($0 / 20).truncatingRemainder(dividingBy: 40) }, from: 7300, to: 9000)
        #expect(base.value == 0.05)
        #expect(base.competingDelay == nil)
    }

    @Test("a base that was not seen for eight of its ten seconds needs a pause, once")
    mutating func aging() {
        add({ _ in 50 }, from: 0, to: 5000)
        add({ _ in 65 }, from: 5000, to: 12_900)
        #expect(!base.needsProbe(now: at(12_900)))
        #expect(base.needsProbe(now: at(13_100)))
        base.probed(now: at(13_500))
        #expect(!base.needsProbe(now: at(13_600)))
        #expect(!base.needsProbe(now: at(21_000)))
    }

    @Test("a queue that gets shorter is our own")
    mutating func drains() {
        add({ _ in 50 }, from: 0, to: 5000)
        add({ 1050 - ($0 - 5000) / 4 }, from: 5000, to: 8500)
        #expect(base.value == 0.05)
        #expect(base.competingDelay == nil)
    }

    @Test("arrivals after an interruption do not prove a standing queue")
    mutating func interruption() {
        add({ _ in 50 }, from: 0, to: 5000)
        for time in stride(from: 5000.0, to: 9000, by: 200) {
            base.interrupted()
            base.add(0.2, jitter: 0, now: at(time))
        }
        #expect(base.value == 0.05)
    }
}
