internal import COpenSSL
internal import MediaCore

/// The time that libssl's retransmission timers go by: the machine's in programs, and the time of the call in tests,
/// which link `CDTLSClock`.
enum DTLSClock {
    /// Runs a call into libssl with `now` as the time, if the program has a clock that can be held.
    static func with<Result: ~Copyable>(now: MonotonicInstant, _ body: () -> Result) -> Result {
        // Never zero: for libssl a time of zero means a stopped timer. And far from overflowing.
        shim_dtls_clock_hold(max(0, now.nanoseconds) / 1000 + 1_000_000)
        defer { shim_dtls_clock_release() }
        return body()
    }
}
