import MediaCore
import Synchronization
import Testing

@Suite struct TimebaseTests {
    private let clock = VirtualMediaClock(now: .zero + .seconds(1000))

    private func milliseconds(_ value: Int64) -> MediaTime { MediaTime(value: value, timescale: 1000) }

    @Test func `a new timebase stands still at zero`() {
        let timebase = Timebase(clock: clock)
        clock.advance(by: .seconds(5))
        #expect(timebase.time == .zero)
        #expect(timebase.rate == 0)
        #expect(timebase.instant(of: .zero) == nil)
    }

    @Test func `a timebase runs at its rate, from the time that was set`() {
        let timebase = Timebase(clock: clock)
        timebase.setTime(milliseconds(500))
        timebase.setRate(1)
        clock.advance(by: .milliseconds(100))
        #expect(timebase.time == milliseconds(600))
        timebase.setRate(2)
        clock.advance(by: .milliseconds(100))
        #expect(timebase.time == milliseconds(800))
        timebase.setRate(0.5)
        clock.advance(by: .milliseconds(100))
        #expect(timebase.time == milliseconds(850))
        timebase.setRate(0)
        clock.advance(by: .milliseconds(100))
        #expect(timebase.time == milliseconds(850))
        timebase.setRate(-1)
        clock.advance(by: .milliseconds(900))
        #expect(timebase.time == milliseconds(-50))
        timebase.setRate(1, time: milliseconds(7))
        #expect(timebase.time == milliseconds(7))
        #expect(timebase.rate == 1)
    }

    @Test("no error adds up over a day of readings", arguments: [1, 2, 0.5, -1, 0.25])
    func noDrift(rate: Double) {
        let timebase = Timebase(clock: clock)
        timebase.setRate(rate, time: MediaTime(value: 0, timescale: 90_000))
        for _ in 0..<24 {
            clock.advance(by: .seconds(3600) + .nanoseconds(1))
            _ = timebase.time
            timebase.setRate(rate)
        }
        let expected = MediaTime(value: 24 * 3_600_000_000_000 + 24, timescale: 1_000_000_000)
            .multiplied(by: Int64(rate * 4), over: 4)
        #expect(timebase.time == expected)
        #expect(!timebase.time.hasBeenRounded)
    }

    @Test func `times and instants correspond`() throws {
        let timebase = Timebase(clock: clock)
        timebase.setRate(0.5, time: milliseconds(100))
        let instant = try #require(timebase.instant(of: milliseconds(150)))
        #expect(instant == clock.now + .milliseconds(100))
        #expect(timebase.time(at: instant) == milliseconds(150))
        #expect(timebase.instant(of: .positiveInfinity) == nil)
        timebase.setRate(-2, time: milliseconds(100))
        #expect(timebase.instant(of: milliseconds(0)) == clock.now + .milliseconds(50))
    }

    @Test(
        "a time has been reached at its instant, and not before",
        arguments: [1, 2, 0.5, 1.1, 0.3, -1, -0.7, 1_000_000, 0.001])
    func reaching(rate: Double) throws {
        let timebase = Timebase(clock: clock)
        let derived = Timebase(source: timebase)
        timebase.setRate(rate, time: MediaTime(value: 1, timescale: 30))
        derived.setRate(0.9, time: MediaTime(value: 1, timescale: 7))
        for view in [timebase, derived] {
            let direction: Int64 = rate < 0 ? -1 : 1
            for frame in 1...50 {
                let wanted = view.time + MediaTime(value: Int64(frame) * 1001 * direction, timescale: 30_000)
                let instant = try #require(view.instant(of: wanted))
                #expect(rate < 0 ? view.time(at: instant) <= wanted : view.time(at: instant) >= wanted)
                // Each step of a chain may round by a nanosecond of its own time, which is longer by a slow clock.
                let slack = Duration.nanoseconds(Int64(4 + 4 / abs(rate)))
                let before = view.time(at: instant - slack)
                #expect(rate < 0 ? before >= wanted : before <= wanted)
            }
        }
    }

    @Test func `a chain multiplies rates and follows its source`() {
        let master = Timebase(clock: clock)
        let derived = Timebase(source: master)
        derived.setRate(2)
        clock.advance(by: .milliseconds(100))
        #expect(derived.time == .zero)
        master.setRate(0.5)
        #expect(derived.effectiveRate == 1)
        clock.advance(by: .milliseconds(100))
        #expect(derived.time == milliseconds(100))
        // A jump of the source is one of the derived timebase, at its rate.
        master.setTime(milliseconds(1050))
        #expect(derived.time == milliseconds(2100))
        master.setRate(0)
        #expect(derived.instant(of: milliseconds(5000)) == nil)
        #expect(derived.rate == 2 && derived.effectiveRate == 0)
    }

    @Test func `a sleeper wakes when its time has come`() async throws {
        let timebase = Timebase(clock: clock)
        timebase.setRate(2)
        let task = Task { try await timebase.sleep(until: milliseconds(1000)) }
        await clock.waitForTimers(1)
        #expect(clock.nextDeadline == .zero + .milliseconds(1_000_500))
        clock.advance(by: .milliseconds(500))
        try await task.value
        try await timebase.sleep(until: milliseconds(1000))
    }

    @Test func `a sleeper honours changes of the rate`() async throws {
        let timebase = Timebase(clock: clock)
        timebase.setRate(1)
        let task = Task { try await timebase.sleep(until: milliseconds(1000)) }
        await clock.waitForTimers(1)
        clock.advance(by: .milliseconds(200))
        timebase.setRate(2)
        #expect(clock.nextDeadline == .zero + .milliseconds(1_000_600))
        timebase.setRate(0)
        #expect(clock.nextDeadline == nil)
        clock.advance(by: .seconds(60))
        timebase.setRate(0.5)
        #expect(clock.nextDeadline == clock.now + .milliseconds(1600))
        #expect(clock.advanceToNextDeadline())
        try await task.value
        #expect(timebase.time == milliseconds(1000))
    }

    @Test func `a sleeper honours changes of the time, of the source too`() async throws {
        let master = Timebase(clock: clock)
        master.setRate(1)
        let derived = Timebase(source: Timebase(source: master))
        derived.setRate(1)
        let task = Task { try await derived.sleep(until: milliseconds(1000)) }
        // The timebase between stands still.
        #expect(clock.nextDeadline == nil)
        derived.setTime(milliseconds(1001))
        try await task.value

        let middle = Timebase(source: master)
        middle.setRate(1)
        let last = Timebase(source: middle)
        last.setRate(1)
        let waiting = Task { try await last.sleep(until: milliseconds(1000)) }
        await clock.waitForTimers(1)
        master.setTime(milliseconds(600))
        #expect(clock.nextDeadline == clock.now + .milliseconds(400))
        middle.setRate(4)
        #expect(clock.nextDeadline == clock.now + .milliseconds(100))
        master.setTime(milliseconds(5000))
        try await waiting.value
    }

    @Test func `a sleeper waits for a timebase that runs backward`() async throws {
        let timebase = Timebase(clock: clock)
        timebase.setRate(-1, time: milliseconds(1000))
        let task = Task { try await timebase.sleep(until: milliseconds(400)) }
        await clock.waitForTimers(1)
        #expect(clock.nextDeadline == clock.now + .milliseconds(600))
        clock.advance(by: .milliseconds(600))
        try await task.value
    }

    @Test func `a cancelled sleeper stops at once`() async {
        let timebase = Timebase(clock: clock)
        let task = Task { try await timebase.sleep(until: milliseconds(1)) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func `a timer fires inside advance, once for each time it is armed`() {
        let timebase = Timebase(clock: clock)
        let log = EventLog()
        let timer = timebase.makeTimer { log.append("\(timebase.time == milliseconds(100))") }
        #expect(!timer.arm(at: .zero))
        #expect(timer.arm(at: milliseconds(100)))
        clock.advance(by: .seconds(1))
        timebase.setRate(1)
        clock.advance(by: .milliseconds(99))
        #expect(log.all.isEmpty)
        clock.advance(by: .seconds(1))
        #expect(log.all == ["true"])
    }

    @Test func `a timer that a set time makes due fires in the clock's context`() {
        let timebase = Timebase(clock: clock)
        let log = EventLog()
        let timer = timebase.makeTimer { log.append("fired") }
        timer.arm(at: milliseconds(100))
        timebase.setTime(milliseconds(100))
        #expect(log.all.isEmpty)
        clock.advance(by: .zero)
        #expect(log.all == ["fired"])
        // A timer that was due, and no longer is because the timebase was set back, does not fire.
        timer.arm(at: milliseconds(200))
        timebase.setTime(milliseconds(200))
        timebase.setTime(milliseconds(0))
        clock.advance(by: .seconds(1))
        #expect(log.all == ["fired"])
    }

    @Test func `times that are no number stand, and rates that are none count as zero`() async {
        let timebase = Timebase(clock: clock)
        timebase.setRate(1)
        timebase.setTime(.invalid)
        clock.advance(by: .seconds(1))
        #expect(timebase.time == .invalid)
        #expect(timebase.instant(of: .zero) == nil)
        timebase.setRate(.nan, time: .zero)
        #expect(timebase.rate == 0)
        timebase.setRate(.infinity)
        #expect(timebase.rate == 0)
        timebase.setRate(1e300)
        #expect(timebase.rate == Double(1 << 20))
    }
}
