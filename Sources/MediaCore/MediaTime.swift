/// A rational media timestamp: `value / timescale` seconds.
///
/// Comparison is exact across timescales (128-bit intermediates). Sums and differences are too, unless the common timescale
/// is beyond 32 bits: then they are rounded down to the finer of the two. Everything saturates instead of trapping.
public struct MediaTime: Sendable {
    /// The count of `1 / timescale` seconds.
    public var value: Int64
    /// Units per second; always positive.
    public var timescale: Int32

    /// Creates the time `value / timescale` seconds. A timescale below one is a programming error.
    public init(value: Int64, timescale: Int32) {
        precondition(timescale > 0, "a media time needs a positive timescale")
        self.value = value
        self.timescale = timescale
    }

    public static let zero = MediaTime(value: 0, timescale: 1)

    /// The time in seconds, rounded to a double.
    public var seconds: Double { Double(value) / Double(timescale) }

    /// The time in another timescale, rounded down.
    public func converted(toTimescale newTimescale: Int32) -> MediaTime {
        precondition(newTimescale > 0, "a media time needs a positive timescale")
        guard newTimescale != timescale else { return self }
        let quotient = Self.floorDivide(Int128(value) * Int128(newTimescale), by: Int128(timescale))
        return MediaTime(value: Int64(clamping: quotient), timescale: newTimescale)
    }

    /// The time as a duration, rounded down to a nanosecond.
    public var duration: Duration { .nanoseconds(converted(toTimescale: 1_000_000_000).value) }

    /// Creates a time from a duration, rounded down to `1 / timescale` seconds.
    public init(_ duration: Duration, timescale: Int32) {
        self = MediaTime(value: duration.nanoseconds, timescale: 1_000_000_000).converted(toTimescale: timescale)
    }
}

extension MediaTime: Comparable, Hashable {
    public static func == (left: MediaTime, right: MediaTime) -> Bool {
        Int128(left.value) * Int128(right.timescale) == Int128(right.value) * Int128(left.timescale)
    }

    public static func < (left: MediaTime, right: MediaTime) -> Bool {
        Int128(left.value) * Int128(right.timescale) < Int128(right.value) * Int128(left.timescale)
    }

    public func hash(into hasher: inout Hasher) {
        let divisor = Self.greatestCommonDivisor(value.magnitude, UInt64(timescale))
        hasher.combine(value / Int64(divisor))
        hasher.combine(Int64(timescale) / Int64(divisor))
    }

    public static func + (left: MediaTime, right: MediaTime) -> MediaTime { combine(left, right, +) }
    public static func - (left: MediaTime, right: MediaTime) -> MediaTime { combine(left, right, -) }

    private static func combine(
        _ left: MediaTime, _ right: MediaTime, _ operation: (Int128, Int128) -> Int128
    ) -> MediaTime {
        let divisor = Int64(greatestCommonDivisor(UInt64(left.timescale), UInt64(right.timescale)))
        let common = Int64(left.timescale) / divisor * Int64(right.timescale)
        let sum = operation(
            Int128(left.value) * Int128(common / Int64(left.timescale)),
            Int128(right.value) * Int128(common / Int64(right.timescale)))
        if let timescale = Int32(exactly: common) {
            return MediaTime(value: Int64(clamping: sum), timescale: timescale)
        }
        let timescale = max(left.timescale, right.timescale)
        let scaled = floorDivide(sum * Int128(timescale), by: Int128(common))
        return MediaTime(value: Int64(clamping: scaled), timescale: timescale)
    }

    /// The quotient rounded down; `divisor` is positive.
    private static func floorDivide(_ dividend: Int128, by divisor: Int128) -> Int128 {
        let (quotient, remainder) = dividend.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }

    private static func greatestCommonDivisor(_ left: UInt64, _ right: UInt64) -> UInt64 {
        var (a, b) = (left, right)
        while b != 0 { (a, b) = (b, a % b) }
        return max(a, 1)
    }
}
