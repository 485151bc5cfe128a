public import MediaCore

/// The time at which a packet left, on its sender's clock: seconds modulo 64 in 6.18 fixed point, about 3.8 µs a unit
/// (the `abs-send-time` header extension).
public struct AbsoluteSendTime: Hashable, Sendable {
    /// The low 24 bits are in use.
    public var rawValue: UInt32

    /// Creates a time from its 24 bits; higher bits are dropped.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue & 0xFF_FFFF
    }

    /// The send time `now`, rounded down.
    public init(_ now: MonotonicInstant) {
        let units = (Int128(now.nanoseconds) << 18) / 1_000_000_000
        self.init(rawValue: UInt32(truncatingIfNeeded: units))
    }

    /// The time from `earlier` to here: the shorter way around the 64-second circle, so -32 s to 32 s.
    public func duration(since earlier: AbsoluteSendTime) -> Duration {
        let difference = Int32(bitPattern: (rawValue &- earlier.rawValue) << 8) >> 8
        return .nanoseconds((Int64(difference) * 1_000_000_000) >> 18)
    }
}
