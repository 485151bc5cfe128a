extension MediaTime {
    /// The time in seconds, rounded to a double; NaN if the time is invalid or indefinite.
    public var seconds: Double {
        switch kind {
        case .numeric: Double(value) / Double(timescale)
        case .positiveInfinity: .infinity
        case .negativeInfinity: -.infinity
        case .indefinite, .invalid: .nan
        }
    }

    /// Creates the time nearest to `seconds` in a timescale; invalid for a NaN.
    public init(seconds: Double, timescale: Int32) {
        let value = (seconds * Double(timescale)).rounded()
        if let exact = Int64(exactly: value) {
            self.init(value: exact, timescale: timescale)
        } else if value.isNaN || timescale <= 0 {
            self = .invalid
        } else {
            self = value < 0 ? .negativeInfinity : .positiveInfinity
        }
    }

    /// The time in another timescale.
    ///
    /// - Returns: The time itself if it is no number; an infinity if the value would exceed 64 bits; invalid for a
    ///   timescale that is not positive.
    public func converted(
        toTimescale newTimescale: Int32, rounding rule: FloatingPointRoundingRule = .down
    ) -> MediaTime {
        guard newTimescale > 0 else { return .invalid }
        guard isNumeric, newTimescale != timescale else { return self }
        let rounded = RoundedQuotient(
            of: Int128(value), over: Int128(timescale), times: Int128(newTimescale), rounding: rule)
        guard let value = rounded.value.flatMap({ Int64(exactly: $0) }) else {
            return value < 0 ? .negativeInfinity : .positiveInfinity
        }
        return MediaTime(
            value: value, timescale: newTimescale, hasBeenRounded: hasBeenRounded || !rounded.isExact)
    }

    /// The time as a duration, rounded down to a nanosecond. Infinities give the longest duration of 64-bit nanoseconds
    /// (292 years) of their sign; invalid and indefinite times give zero.
    public var duration: Duration { .nanoseconds(converted(toTimescale: Self.nanosecondTimescale).value) }

    public init(_ duration: Duration, timescale: Int32) {
        self = MediaTime(value: duration.nanoseconds, timescale: Self.nanosecondTimescale)
            .converted(toTimescale: timescale)
    }

    /// The time from a clock's origin to an instant of it.
    public init(_ instant: MonotonicInstant) {
        self.init(value: instant.nanoseconds, timescale: Self.nanosecondTimescale)
    }

    static let nanosecondTimescale: Int32 = 1_000_000_000
}
