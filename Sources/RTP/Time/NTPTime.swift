import MediaCore

/// A wall-clock time as RTCP carries it: seconds since 1900 in 32.32 fixed point, wrapping in 2036 (RFC 3550 4).
public struct NTPTime: Hashable, Sendable {
    /// Seconds in the upper 32 bits, their fraction in the lower.
    public var rawValue: UInt64

    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// Creates the time `unixTime` after the start of 1970.
    public init(unixTime: Duration) {
        let seconds = NTPTime(rawValue: 2_208_988_800 << 32)
        self = seconds + unixTime
    }

    /// Whole seconds since the start of 1970, for a time from 1970 to 2106 (RFC 5905, section 6: eras of 2^32 seconds).
    public var unixSeconds: Int64 {
        let seconds = Int64(rawValue >> 32) - 2_208_988_800
        return seconds < 0 ? seconds + (1 << 32) : seconds
    }

    /// The 16 low bits of the seconds and the 16 high bits of the fraction, as report blocks echo them.
    public var middle32: UInt32 { UInt32(truncatingIfNeeded: rawValue >> 16) }

    public static func + (time: NTPTime, duration: Duration) -> NTPTime {
        let fixed = (Int128(duration.nanoseconds) << 32) / 1_000_000_000
        return NTPTime(rawValue: time.rawValue &+ UInt64(truncatingIfNeeded: fixed))
    }

    /// The time from `earlier` to here: the shorter way around the 136-year circle.
    public func duration(since earlier: NTPTime) -> Duration {
        let difference = Int64(bitPattern: rawValue &- earlier.rawValue)
        let scaled = Int128(difference) * 1_000_000_000
        // Rounded, so that adding and subtracting a duration gives the same time.
        return .nanoseconds(Int64(clamping: (scaled + (1 << 31)) >> 32))
    }
}
