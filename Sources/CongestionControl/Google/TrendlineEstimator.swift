import MediaCore

/// Estimates how fast one-way delay grows (libwebrtc's `TrendlineEstimator`): the slope of a line through the smoothed
/// delays of the last groups, in ms of delay per ms of time.
struct TrendlineEstimator: Sendable {
    static let window = 20
    static let smoothing = 0.9
    static let maximumDeltaCount = 1000

    private struct Point {
        /// The time since the first group, in ms.
        var time: Double
        var delay: Double
    }

    /// A ring of the last points; their order does not matter to a line.
    private var points: [Point] = []
    private var oldest = 0
    private var firstReceive: MonotonicInstant?
    private var accumulatedDelay = 0.0
    private var smoothedDelay = 0.0

    /// The number of differences so far, up to 1000.
    private(set) var deltaCount = 0
    /// The slope; zero until the window is full.
    private(set) var slope = 0.0

    init() {
        points.reserveCapacity(Self.window)
    }

    mutating func add(_ delta: InterArrival.Delta, receiveTime: MonotonicInstant) {
        deltaCount = min(deltaCount + 1, Self.maximumDeltaCount)
        let first = firstReceive ?? receiveTime
        firstReceive = first
        accumulatedDelay += (delta.receiveInterval - delta.sendInterval).milliseconds
        smoothedDelay = Self.smoothing * smoothedDelay + (1 - Self.smoothing) * accumulatedDelay
        let point = Point(time: (receiveTime - first).milliseconds, delay: smoothedDelay)
        if points.count < Self.window {
            points.append(point)
        } else {
            points[oldest] = point
            oldest = (oldest + 1) % Self.window
        }
        if points.count == Self.window, let slope = fittedSlope() { self.slope = slope }
    }

    /// The slope by least squares; nil if all groups arrived at one time.
    private func fittedSlope() -> Double? {
        let count = Double(points.count)
        let meanTime = points.reduce(0) { $0 + $1.time } / count
        let meanDelay = points.reduce(0) { $0 + $1.delay } / count
        var numerator = 0.0
        var denominator = 0.0
        for point in points {
            let offset = point.time - meanTime
            numerator += offset * (point.delay - meanDelay)
            denominator += offset * offset
        }
        return denominator > 0 ? numerator / denominator : nil
    }
}
