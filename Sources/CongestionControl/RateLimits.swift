public import MediaCore

/// The range of a controller's rates, and its start.
public struct RateLimits: Hashable, Sendable {
    public var minimum: BitRate
    public var start: BitRate
    public var maximum: BitRate

    /// Creates limits. A maximum below the minimum becomes the minimum, and the start is held between the two.
    public init(minimum: BitRate, start: BitRate, maximum: BitRate) {
        let maximum = max(minimum, maximum)
        self.minimum = minimum
        self.start = start.clamped(to: minimum...maximum)
        self.maximum = maximum
    }

    public var range: ClosedRange<BitRate> { minimum...max(minimum, maximum) }
}
