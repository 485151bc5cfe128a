import Foundation
public import MediaCore
package import NIOCore
package import RTP

extension MonotonicInstant {
    /// The present on the machine's monotonic clock, the one that event loops schedule by.
    public static func now() -> MonotonicInstant { SystemMediaClock.shared.now }

    /// The same instant for an event loop's timer.
    package var deadline: NIODeadline {
        .uptimeNanoseconds(UInt64(clamping: nanoseconds))
    }
}

extension WallClock {
    /// Returns a wall clock that agrees with the system's clock at this moment.
    package static func system() -> WallClock {
        let sinceUnixEpoch = Duration.seconds(Date().timeIntervalSince1970)
        let sinceOrigin = MonotonicInstant.now() - MonotonicInstant.zero
        return WallClock(ntpAtOrigin: NTPTime(unixTime: sinceUnixEpoch - sinceOrigin))
    }
}
