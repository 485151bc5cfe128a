/// A point in time on a monotonic clock, in nanoseconds since an origin that only its owner knows.
///
/// Time is an argument everywhere in this package: the server passes the machine's monotonic clock, the simulator a
/// virtual one. Arithmetic saturates, so that a duration from untrusted input cannot trap.
public struct MonotonicInstant: InstantProtocol, Hashable, Sendable {
    /// Nanoseconds since the clock's origin.
    public var nanoseconds: Int64

    /// Creates an instant `nanoseconds` after the clock's origin.
    @inlinable
    public init(nanoseconds: Int64 = 0) {
        self.nanoseconds = nanoseconds
    }

    /// The clock's origin.
    public static let zero = MonotonicInstant(nanoseconds: 0)
    /// An instant later than every other one: "never".
    public static let distantFuture = MonotonicInstant(nanoseconds: .max)

    /// Whole milliseconds since the clock's origin, rounded down.
    @inlinable
    public var milliseconds: Int64 { nanoseconds / 1_000_000 }

    @inlinable
    public func advanced(by duration: Duration) -> MonotonicInstant {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(duration.nanoseconds)
        guard overflow else { return MonotonicInstant(nanoseconds: sum) }
        return MonotonicInstant(nanoseconds: duration < .zero ? .min : .max)
    }

    @inlinable
    public func duration(to other: MonotonicInstant) -> Duration {
        let (difference, overflow) = other.nanoseconds.subtractingReportingOverflow(nanoseconds)
        guard overflow else { return .nanoseconds(difference) }
        return .nanoseconds(other < self ? Int64.min : Int64.max)
    }

    @inlinable
    public static func < (left: MonotonicInstant, right: MonotonicInstant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    @inlinable
    public static func + (instant: MonotonicInstant, duration: Duration) -> MonotonicInstant {
        instant.advanced(by: duration)
    }

    @inlinable
    public static func - (instant: MonotonicInstant, duration: Duration) -> MonotonicInstant {
        instant.advanced(by: .zero - duration)
    }

    @inlinable
    public static func - (later: MonotonicInstant, earlier: MonotonicInstant) -> Duration {
        earlier.duration(to: later)
    }

    @inlinable
    public static func += (instant: inout MonotonicInstant, duration: Duration) {
        instant = instant.advanced(by: duration)
    }
}
