internal import CDTLSClock
internal import MediaCore

/// The time that libssl sees. It has its own retransmission timers and reads gettimeofday(2) for them; the program's
/// definition of that function gives back what is held here (see CDTLSClock.c).
enum DTLSClock {
    /// Runs a call into libssl that takes `now` for the time.
    static func with<Result: ~Copyable>(now: MonotonicInstant, _ body: () -> Result) -> Result {
        // Never zero, by which libssl means a timer that does not run, and far from overflowing.
        dtls_clock_hold(max(0, now.nanoseconds) / 1000 + 1_000_000)
        defer { dtls_clock_release() }
        return body()
    }
}
