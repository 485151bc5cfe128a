public import MediaCore

extension MonotonicInstant {
    /// The present on the machine's monotonic clock, the one that event loops schedule by.
    public static func now() -> MonotonicInstant { SystemMediaClock.shared.now }
}
