import CongestionControl
import MediaCore

/// The instant `milliseconds` after the origin.
func at(_ milliseconds: Double) -> MonotonicInstant {
    MonotonicInstant(nanoseconds: Int64(milliseconds * 1e6))
}

func bytes(_ count: Int) -> DataSize { DataSize(bytes: count) }

extension DataSize {
    static let packet = DataSize(bytes: 1200)
}

extension RateLimits {
    static let test = RateLimits(minimum: .kilobits(150), start: .kilobits(300), maximum: .megabits(8))
}
