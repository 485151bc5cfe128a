import MediaCore
import Testing

@testable import Conference

/// When ticks are due, and when they are paused.
@Suite struct TickScheduleTests {
    private static let start = MonotonicInstant(nanoseconds: 5_000_000_000)

    private func schedule(taking count: Int) -> TickSchedule {
        var schedule = TickSchedule(origin: Self.start, frequency: 30)
        for _ in 0..<count { _ = schedule.takeTick(tolerance: 1, now: schedule.next) }
        return schedule
    }

    @Test("after a pause the next tick is due when it was told to be, and ticks go on from there")
    func pause() {
        var schedule = schedule(taking: 4)
        schedule.pause(for: .milliseconds(200))
        #expect(schedule.isPaused)
        #expect(schedule.next == Self.start + .milliseconds(300))
        let early = schedule.takeTick(tolerance: 1, now: schedule.next - .nanoseconds(1))
        #expect(early == nil)
        let tick = schedule.takeTick(tolerance: 1, now: schedule.next)
        #expect(tick?.index == 9)
        #expect(tick?.leftOut == 5)
        #expect(!schedule.isPaused)
        let next = schedule.takeTick(tolerance: 1, now: schedule.next)
        #expect(next?.index == 10)
        #expect(next?.leftOut == 0)
    }

    @Test("ticks that are paused are woken to the newest tick, once")
    func wake() {
        var schedule = schedule(taking: 4)
        schedule.pause(for: .milliseconds(200))
        let news = Self.start + .milliseconds(240)
        #expect(schedule.nextAwake <= news)
        schedule.wake()
        let tick = schedule.takeTick(tolerance: 1, now: news)
        #expect(tick?.index == 7)
        #expect(tick?.leftOut == 3)
        let second = schedule.takeTick(tolerance: 1, now: news)
        #expect(second == nil)
    }

    @Test("a woken tick is the newest one, also if a single one was left out")
    func wakeSoon() {
        var schedule = schedule(taking: 4)
        schedule.pause(for: .milliseconds(200))
        schedule.wake()
        let news = Self.start + .milliseconds(170)
        let tick = schedule.takeTick(tolerance: 1, now: news)
        #expect(tick?.index == 5)
        #expect(tick?.leftOut == 1)
        let second = schedule.takeTick(tolerance: 1, now: news)
        #expect(second == nil)
    }

    @Test("news just after a tick wait for the next one, as without a pause")
    func wakeAtOnce() {
        var schedule = schedule(taking: 4)
        schedule.pause(for: .milliseconds(200))
        schedule.wake()
        let early = schedule.takeTick(tolerance: 1, now: Self.start + .milliseconds(101))
        #expect(early == nil)
        let tick = schedule.takeTick(tolerance: 1, now: schedule.next)
        #expect(tick?.index == 4)
    }

    @Test("ticks come at another frequency from the next one on, and are counted on")
    func frequency() {
        var schedule = schedule(taking: 3)
        schedule.setFrequency(20)
        var ticks: [TickSchedule.Tick] = []
        for _ in 0..<4 {
            if let tick = schedule.takeTick(tolerance: 1, now: schedule.next) { ticks.append(tick) }
        }
        #expect(ticks.map(\.index) == [3, 4, 5, 6])
        #expect(ticks.first?.time == Self.start + .milliseconds(100))
        #expect(zip(ticks, ticks.dropFirst()).allSatisfy { $1.time - $0.time == .milliseconds(50) })
    }

    @Test("a shift moves the ticks to come by half a millisecond at most")
    func shift() {
        var schedule = schedule(taking: 3)
        let next = schedule.next
        schedule.shift(by: .microseconds(-200))
        #expect(schedule.next == next - .microseconds(200))
        schedule.shift(by: .milliseconds(20))
        #expect(schedule.next == next + .microseconds(300))
    }
}
