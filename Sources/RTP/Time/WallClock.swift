public import MediaCore

/// Ties the monotonic clock to the wall clock of sender reports.
public struct WallClock: Hashable, Sendable {
    /// The wall-clock time at the monotonic clock's origin.
    public var ntpAtOrigin: NTPTime

    public init(ntpAtOrigin: NTPTime) {
        self.ntpAtOrigin = ntpAtOrigin
    }

    public func ntpTime(at instant: MonotonicInstant) -> NTPTime {
        ntpAtOrigin + .nanoseconds(instant.nanoseconds)
    }

    /// The instant at which the wall clock shows `time`.
    public func instant(at time: NTPTime) -> MonotonicInstant {
        .zero + time.duration(since: ntpAtOrigin)
    }
}
