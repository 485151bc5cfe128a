import MediaCore

/// An instant so many milliseconds after the origin.
func at(_ milliseconds: Double) -> MonotonicInstant {
    MonotonicInstant(nanoseconds: Int64(milliseconds * 1e6))
}
