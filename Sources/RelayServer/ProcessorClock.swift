import Foundation

/// The processor time of threads.
public enum ProcessorClock {
    /// `RUSAGE_THREAD` (getrusage(2)), which the header has for GNU sources only.
    private static let callingThread = __rusage_who_t(1)

    /// The processor time of the calling thread, user and system, to the microsecond.
    public static func ofThisThread() -> Duration { time(callingThread) }

    /// The processor time of all threads of this process.
    public static func ofThisProcess() -> Duration { time(__rusage_who_t(RUSAGE_SELF.rawValue)) }

    private static func time(_ who: __rusage_who_t) -> Duration {
        var usage = rusage()
        getrusage(who, &usage)
        return duration(usage.ru_utime) + duration(usage.ru_stime)
    }

    private static func duration(_ time: timeval) -> Duration {
        .seconds(Int64(time.tv_sec)) + .microseconds(Int64(time.tv_usec))
    }
}
