import MediaCore
import Testing

@testable import RelayServer

@Suite("Semaphore with a limit by the monotonic clock")
struct TimedSemaphoreTests {
    @Test("lets as many waits end as there were signals, and no further one")
    func count() {
        let semaphore = TimedSemaphore()
        semaphore.signal()
        semaphore.signal()
        #expect(semaphore.wait(until: .now()))
        #expect(semaphore.wait(until: .zero))
        #expect(!semaphore.wait(until: .now()))
    }

    @Test("waits until the limit, and not less")
    func limit() {
        let limit = MonotonicInstant.now() + .milliseconds(5)
        #expect(!TimedSemaphore().wait(until: limit))
        #expect(MonotonicInstant.now() >= limit)
    }
}
