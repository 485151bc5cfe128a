import MediaCore
import Testing

@Suite("Semaphore with a limit by the monotonic clock")
struct TimedSemaphoreTests {
    @Test("lets as many waits end as there were signals, and no further one")
    func count() {
        let semaphore = TimedSemaphore()
        semaphore.signal()
        semaphore.signal()
        #expect(semaphore.wait(for: .zero))
        #expect(semaphore.wait(until: .zero))
        #expect(!semaphore.wait(for: .zero))
    }

    @Test("waits until the limit, and not less")
    func limit() {
        let limit = SystemMediaClock.shared.now + .milliseconds(5)
        #expect(!TimedSemaphore().wait(until: limit))
        #expect(SystemMediaClock.shared.now >= limit)
    }
}
