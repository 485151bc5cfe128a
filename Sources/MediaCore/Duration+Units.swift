extension Duration {
    /// The duration in whole nanoseconds, saturating at the range of `Int64` (292 years).
    @inlinable
    public var nanoseconds: Int64 {
        // Up to nine seconds, without a division of 128 bits.
        if let attoseconds = Int64(exactly: attoseconds) { return attoseconds / 1_000_000_000 }
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        let (sum, carried) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
        return carried ? (seconds < 0 ? .min : .max) : sum
    }

    /// The duration of a number of seconds, in whole nanoseconds, clamped to the range of `nanoseconds`; zero for NaN.
    /// `Duration.seconds(_:)` traps in both cases.
    @inlinable
    public static func seconds(clamping seconds: Double) -> Duration { .nanoseconds(Int64(clamping: seconds * 1e9)) }

    /// The duration in seconds.
    @inlinable
    public var seconds: Double { Double(nanoseconds) / 1e9 }

    /// The duration in milliseconds.
    @inlinable
    public var milliseconds: Double { Double(nanoseconds) / 1e6 }
}
