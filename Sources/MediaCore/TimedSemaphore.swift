import Glibc

/// A semaphore whose waits end by the monotonic clock.
///
/// On Linux, those of Dispatch and Foundation end by the system's clock: if it is set back by an hour, a wait of a
/// millisecond takes an hour, and if it is set forward, a wait ends at once.
///
/// `@unchecked Sendable` holds because the mutex guards the count.
package final class TimedSemaphore: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    /// The signals that no wait has taken yet.
    private var count = 0

    package init() {
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Lets one wait end.
    package func signal() {
        pthread_mutex_lock(mutex)
        count += 1
        pthread_cond_signal(condition)
        pthread_mutex_unlock(mutex)
    }

    /// Waits for a signal. Returns false if none came in time.
    package func wait(until end: MonotonicInstant) -> Bool {
        let (seconds, rest) = max(end.nanoseconds, 0).quotientAndRemainder(dividingBy: 1_000_000_000)
        var limit = timespec(tv_sec: Int(seconds), tv_nsec: Int(rest))
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while count == 0 {
            guard pthread_cond_timedwait(condition, mutex, &limit) == 0 else { return false }
        }
        count -= 1
        return true
    }

    /// Waits for a signal for a time. Returns false if none came.
    package func wait(for duration: Duration) -> Bool { wait(until: SystemMediaClock.shared.now + duration) }
}
