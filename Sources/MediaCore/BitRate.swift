/// A rate of data, in bits per second. Never negative.
public struct BitRate: Hashable, Comparable, Sendable {
    /// Bits per second; setting a negative value sets zero.
    public var bitsPerSecond: Int64 {
        didSet { if bitsPerSecond < 0 { bitsPerSecond = 0 } }
    }

    /// Creates a rate; negative values become zero.
    public init(bitsPerSecond: Int64) {
        self.bitsPerSecond = max(0, bitsPerSecond)
    }

    /// Creates a rate from a floating-point count of bits per second; values that are not finite or out of range are
    /// clamped.
    public init(bitsPerSecond: Double) {
        self.bitsPerSecond = max(0, Int64(clamping: bitsPerSecond))
    }

    /// The rate at which `size` takes `duration`; zero for an empty or negative duration.
    public init(_ size: DataSize, over duration: Duration) {
        let seconds = duration.seconds
        self.init(bitsPerSecond: seconds > 0 ? Double(size.bytes) * 8 / seconds : 0)
    }

    public static let zero = BitRate(bitsPerSecond: Int64(0))

    /// A rate in kilobits (1000 bits) per second.
    public static func kilobits(_ value: Double) -> BitRate { BitRate(bitsPerSecond: value * 1e3) }

    /// A rate in megabits (10⁶ bits) per second.
    public static func megabits(_ value: Double) -> BitRate { BitRate(bitsPerSecond: value * 1e6) }

    /// Thousands of bits per second.
    public var kilobitsPerSecond: Double { Double(bitsPerSecond) / 1e3 }

    /// Returns the amount of data at this rate in `duration`.
    public func dataSize(over duration: Duration) -> DataSize {
        DataSize(bytes: Double(bitsPerSecond) * duration.seconds / 8)
    }

    /// Returns the time that the rate needs for `size`: zero for an empty or negative size, otherwise at most 292
    /// years, which is also the result of a rate of zero.
    public func duration(for size: DataSize) -> Duration {
        guard size.bytes > 0 else { return .zero }
        guard bitsPerSecond > 0 else { return .nanoseconds(Int64.max) }
        return .nanoseconds(Int64(clamping: Double(size.bytes) * 8e9 / Double(bitsPerSecond)))
    }

    public static func < (left: BitRate, right: BitRate) -> Bool { left.bitsPerSecond < right.bitsPerSecond }

    public static func + (left: BitRate, right: BitRate) -> BitRate {
        let (sum, overflow) = left.bitsPerSecond.addingReportingOverflow(right.bitsPerSecond)
        return BitRate(bitsPerSecond: overflow ? .max : sum)
    }

    /// The difference, zero if it would be negative.
    public static func - (left: BitRate, right: BitRate) -> BitRate {
        BitRate(bitsPerSecond: left.bitsPerSecond - right.bitsPerSecond)
    }

    public static func * (rate: BitRate, factor: Double) -> BitRate {
        BitRate(bitsPerSecond: Double(rate.bitsPerSecond) * factor)
    }

    public static func / (left: BitRate, right: BitRate) -> Double {
        Double(left.bitsPerSecond) / Double(right.bitsPerSecond)
    }

    /// The rate held within `range`.
    public func clamped(to range: ClosedRange<BitRate>) -> BitRate {
        min(max(self, range.lowerBound), range.upperBound)
    }
}

extension BitRate: CustomStringConvertible {
    public var description: String {
        bitsPerSecond >= 1_000_000
            ? "\((Double(bitsPerSecond) / 1e4).rounded() / 100) Mbit/s"
            : "\((Double(bitsPerSecond) / 1e2).rounded() / 10) kbit/s"
    }
}
