public import MediaCore

/// The minimum, time-weighted mean and maximum of a rate that changes now and then.
public struct TargetFigures: Hashable, Sendable {
    public private(set) var minimum: BitRate?
    public private(set) var maximum: BitRate?
    private var lastRate = 0.0
    private var lastTime: Duration?
    private var area = 0.0
    private var span = 0.0

    /// Sets the rate from this time on.
    mutating func add(_ rate: BitRate, at time: Duration) {
        if let lastTime {
            area += lastRate * (time - lastTime).seconds
            span += (time - lastTime).seconds
        }
        lastRate = Double(rate.bitsPerSecond)
        lastTime = time
        minimum = min(minimum ?? rate, rate)
        maximum = max(maximum ?? rate, rate)
    }

    /// The mean over time, up to the last change; nil before the first rate.
    public var mean: BitRate? {
        guard lastTime != nil else { return nil }
        return BitRate(bitsPerSecond: (span > 0 ? area / span : lastRate).rounded())
    }
}
