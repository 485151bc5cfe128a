import MediaCore
import Synchronization
import Testing

/// The events, in order, with the clock's time of each.
final class EventLog: Sendable {
    private let events = Mutex<[String]>([])

    func append(_ event: String) { events.withLock { $0.append(event) } }
    var all: [String] { events.withLock { $0 } }
}

@Suite struct MediaClockTests {
    @Test func `a virtual clock stands still until it is advanced`() {
        let clock = VirtualMediaClock(now: .zero + .seconds(5))
        #expect(clock.now == .zero + .seconds(5))
        clock.advance(by: .milliseconds(10))
        #expect(clock.now.milliseconds == 5010)
        clock.advance(to: .zero)
        #expect(clock.now.milliseconds == 5010)
    }

    @Test func `timers fire in the order of their instants, each at its own`() {
        let clock = VirtualMediaClock()
        let log = EventLog()
        let timers = ["c", "a", "b", "late"].map { name in
            clock.makeTimer { log.append("\(name)@\(clock.now.milliseconds)") }
        }
        for (timer, milliseconds) in zip(timers, [30, 10, 10, 50]) {
            timer.arm(at: .zero + .milliseconds(milliseconds))
        }
        withExtendedLifetime(timers) {
            #expect(clock.nextDeadline == .zero + .milliseconds(10))
            clock.advance(by: .milliseconds(40))
            #expect(log.all == ["a@10", "b@10", "c@30"])
            #expect(clock.now.milliseconds == 40)
        }
    }

    @Test func `a timer that arms itself again fires again within one advance`() {
        let clock = VirtualMediaClock()
        let log = EventLog()
        let timer = Mutex<(any MediaTimer)?>(nil)
        timer.withLock {
            $0 = clock.makeTimer {
                log.append("\(clock.now.milliseconds)")
                timer.withLock { $0 }?.arm(at: clock.now + .milliseconds(20))
            }
            $0?.arm(at: .zero + .milliseconds(20))
        }
        clock.advance(by: .milliseconds(70))
        #expect(log.all == ["20", "40", "60"])
        timer.withLock { $0 = nil }
        #expect(clock.nextDeadline == nil)
    }

    @Test func `arming replaces, and disarming and letting go prevent`() {
        let clock = VirtualMediaClock()
        let log = EventLog()
        let moved = clock.makeTimer { log.append("moved@\(clock.now.milliseconds)") }
        let disarmed = clock.makeTimer { log.append("disarmed") }
        var dropped: (any MediaTimer)? = clock.makeTimer { log.append("dropped") }
        moved.arm(at: .zero + .milliseconds(1))
        disarmed.arm(at: .zero + .milliseconds(1))
        dropped?.arm(at: .zero + .milliseconds(1))
        moved.arm(at: .zero + .milliseconds(2))
        disarmed.disarm()
        dropped = nil
        clock.advance(by: .milliseconds(5))
        #expect(log.all == ["moved@2"])
    }

    @Test func `sleepers of a virtual clock wake when their time has come`() async throws {
        let clock = VirtualMediaClock()
        async let first: Void = clock.sleep(for: .milliseconds(10))
        async let second: Void = clock.sleep(until: .zero + .milliseconds(20))
        await clock.waitForTimers(2)
        clock.advance(by: .milliseconds(10))
        try await first
        #expect(clock.nextDeadline == .zero + .milliseconds(20))
        #expect(clock.advanceToNextDeadline())
        try await second
        #expect(!clock.advanceToNextDeadline())
        try await clock.sleep(until: .zero)
    }

    @Test func `a cancelled sleeper stops at once and leaves no timer`() async {
        let clock = VirtualMediaClock()
        let task = Task { try await clock.sleep(for: .seconds(1)) }
        await clock.waitForTimers(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(clock.nextDeadline == nil)
    }

    @Test func `the machine's clock runs, and its timers are never early`() async throws {
        let clock = SystemMediaClock.shared
        let wanted = clock.now + .milliseconds(3)
        try await clock.sleep(until: wanted)
        #expect(clock.now >= wanted)
        let task = Task { try await clock.sleep(until: .distantFuture) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
