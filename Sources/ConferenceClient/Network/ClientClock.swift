import Foundation
import MediaCore
import NIOCore
import RTP

/// The clocks of the machine.
enum ClientClock {
    /// The monotonic clock that event loops schedule by.
    static func now() -> MonotonicInstant { SystemMediaClock.shared.now }

    /// The machine's wall clock, the same for every process on it: milliseconds since 1970.
    static func wallClockMilliseconds() -> Int64 {
        Int64(Date().timeIntervalSince1970 * 1000)
    }

    /// Returns a wall clock that agrees with the system's clock at this moment.
    static func wallClock() -> WallClock {
        let sinceOrigin = now() - MonotonicInstant.zero
        return WallClock(
            ntpAtOrigin: NTPTime(unixTime: .seconds(Date().timeIntervalSince1970) - sinceOrigin))
    }
}

extension MonotonicInstant {
    /// The same instant for an event loop's timer.
    var deadline: NIODeadline { .uptimeNanoseconds(UInt64(clamping: nanoseconds)) }
}
