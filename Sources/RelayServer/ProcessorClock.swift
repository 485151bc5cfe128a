import Foundation

/// What threads have had of the processors.
public enum ProcessorClock {
    /// The processor time of the calling thread.
    public static func ofThisThread() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }
}
