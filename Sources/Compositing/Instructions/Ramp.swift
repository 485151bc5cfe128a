public import MediaCore

/// A value that changes from one to another over a span of time.
public struct Ramp<Value: Interpolating>: Hashable, Sendable {
    public var timeRange: MediaTimeRange
    public var from: Value
    public var to: Value
    public var easing: Easing

    public init(timeRange: MediaTimeRange, from: Value, to: Value, easing: Easing = .easeInOut) {
        self.timeRange = timeRange
        self.from = from
        self.to = to
        self.easing = easing
    }

    /// The value at a time: `from` until the ramp begins, `to` once it has ended.
    public func value(at time: MediaTime) -> Value {
        let factor = TweenFactor(of: time, in: timeRange)
        if factor.isZero { return from }
        return factor.isOne ? to : .interpolated(from: from, to: to, fraction: easing.eased(factor))
    }
}

extension Sequence {
    /// The value of ramps in order of time: that of the last one which has begun, of the first before it has; nil without
    /// ramps.
    func value<Value>(at time: MediaTime) -> Value? where Element == Ramp<Value> { current(at: time)?.value(at: time) }

    /// Of ramps in order of time the last one that has begun, the first before it has; nil without ramps.
    func current<Value>(at time: MediaTime) -> Ramp<Value>? where Element == Ramp<Value> {
        var current: Ramp<Value>?
        for ramp in self {
            if let current, ramp.timeRange.start > time { return current }
            current = ramp
        }
        return current
    }
}

/// A value of which there is something between two.
public protocol Interpolating: Hashable, Sendable {
    /// What lies at `fraction` of the way from one to the other, from 0 to 1.
    static func interpolated(from: Self, to: Self, fraction: Double) -> Self
}

extension Double: Interpolating {
    public static func interpolated(from: Double, to: Double, fraction: Double) -> Double {
        from + (to - from) * fraction
    }
}

extension PixelRect: Interpolating {
    /// Corners move on straight lines, each to the nearest even position: what is drawn begins on a chroma sample.
    public static func interpolated(from: PixelRect, to: PixelRect, fraction: Double) -> PixelRect {
        func even(_ from: Int, _ to: Int) -> Int {
            let value = Double.interpolated(from: Double(from), to: Double(to), fraction: fraction)
            return Int(clamping: Int64((value / 2).rounded())) * 2
        }
        let (left, top) = (even(from.x, to.x), even(from.y, to.y))
        return PixelRect(
            x: left, y: top, width: even(from.maxX, to.maxX) - left, height: even(from.maxY, to.maxY) - top)
    }
}
