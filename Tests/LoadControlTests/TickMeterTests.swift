import MediaCore
import Testing

@testable import LoadControl

@Suite struct TickMeterTests {
    private let start = MonotonicInstant(nanoseconds: 1_000_000_000)
    private let interval = Duration.milliseconds(40)

    @Test("a tick is over with the last of its encodes, whichever that is")
    func lastEncode() throws {
        var meter = TickMeter()
        #expect(meter.composed(start, interval: interval, jobs: 3, finished: start + .milliseconds(4)) == nil)
        #expect(meter.encoded(start, finished: start + .milliseconds(10)) == nil)
        #expect(meter.encoded(start, finished: start + .milliseconds(30)) == nil)
        let slack = meter.encoded(start, finished: start + .milliseconds(20))
        #expect(abs(try #require(slack) - 0.25) < 1e-9)
        #expect(meter.encoded(start, finished: start + .milliseconds(20)) == nil)
    }

    @Test("a tick without encodes ends with its composition, and a late one has negative slack")
    func withoutEncodes() throws {
        var meter = TickMeter()
        let slack = meter.composed(start, interval: interval, jobs: 0, finished: start + .milliseconds(60))
        #expect(abs(try #require(slack) + 0.5) < 1e-9)
    }

    @Test("ticks whose encodes never end do not pile up")
    func overtaken() {
        var meter = TickMeter()
        var over = 0
        for index in 0..<100 {
            let time = start + interval * index
            if meter.composed(time, interval: interval, jobs: 2, finished: time) != nil { over += 1 }
        }
        #expect(over == 96)
    }

    @Test("the window gives the load that one tick in twenty exceeds, and forgets it after a second")
    func window() {
        var window = LoadWindow(highAbove: 0.85, now: start)
        for index in 0..<100 {
            window.observe(load: index % 10 == 0 ? 0.91 : 0.3, now: start + .milliseconds(10) * index)
        }
        let now = start + .milliseconds(990)
        let reading = window.read(now: now)
        #expect(reading.ticks == 100)
        #expect(abs(reading.load - 0.925) < 1e-9)
        #expect(reading.highTicks == 10)
        #expect(window.read(now: now + .seconds(2)).ticks == 0)
        for load in [-1, 0, 0.5, 7, .infinity, .nan] { window.observe(load: load, now: now) }
    }
}
