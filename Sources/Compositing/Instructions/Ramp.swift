public import MediaCore

/// A value that changes from one to another over a span of time, or a part of such a change.
public struct Ramp<Value: Interpolating>: Hashable, Sendable {
    /// The time of the change. Before it the ramp has its first value, after it its last one.
    public let timeRange: MediaTimeRange
    /// The span over which the value would go all the way: the ramp's own, except for one that is part of a change.
    public let course: MediaTimeRange
    /// The value at the start of the course.
    public var from: Value
    /// The value at the end of the course.
    public var to: Value
    public var easing: Easing

    public init(timeRange: MediaTimeRange, from: Value, to: Value, easing: Easing = .easeInOut) {
        self.init(timeRange: timeRange, course: timeRange, from: from, to: to, easing: easing)
    }

    private init(timeRange: MediaTimeRange, course: MediaTimeRange, from: Value, to: Value, easing: Easing) {
        self.timeRange = timeRange
        self.course = course
        self.from = from
        self.to = to
        self.easing = easing
    }

    /// The part of the ramp that lies in a range, with the same values at the same times: for a change that is
    /// interrupted, or that continues in the next instruction. Nil if there is none.
    public func trimmed(to range: MediaTimeRange) -> Ramp? {
        let part = timeRange.intersection(range)
        guard !part.isEmpty else { return nil }
        return Ramp(timeRange: part, course: course, from: from, to: to, easing: easing)
    }

    /// The value at a time: `from` before the change, `to` after it. A part of a change has the values of its own
    /// beginning and end.
    public func value(at time: MediaTime) -> Value {
        let factor = TweenFactor(of: max(timeRange.start, min(time, timeRange.end)), in: course)
        if factor.isZero { return from }
        return factor.isOne ? to : .interpolated(from: from, to: to, fraction: easing.eased(factor))
    }

    /// The value at its beginning: `from`, or the value at which a part of a change begins.
    public var startValue: Value { value(at: timeRange.start) }
    /// The value at its end: `to`, or the value at which a part of a change ends.
    public var endValue: Value { value(at: timeRange.end) }
}

extension Sequence {
    /// The value of ramps that are in order of time: that of the last ramp that has begun, or else of the first; nil
    /// without ramps.
    func value<Value>(at time: MediaTime) -> Value? where Element == Ramp<Value> { current(at: time)?.value(at: time) }

    /// The last ramp that has begun, or the first if none has; nil without ramps. The ramps must be in order of time.
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
    /// The value at `fraction` of the way from one to the other, from 0 to 1.
    static func interpolated(from: Self, to: Self, fraction: Double) -> Self
}

extension Double: Interpolating {
    public static func interpolated(from: Double, to: Double, fraction: Double) -> Double {
        from + (to - from) * fraction
    }
}

extension PixelRect: Interpolating {
    /// Corners move on straight lines, each to the nearest even position, so that a layer begins on a chroma sample.
    public static func interpolated(from: PixelRect, to: PixelRect, fraction: Double) -> PixelRect {
        func even(_ from: Int, _ to: Int) -> Int {
            let value = Double.interpolated(from: Double(from), to: Double(to), fraction: fraction)
            return Int(clamping: (value / 2).rounded()) * 2
        }
        let (from, to) = (from.bounded, to.bounded)
        let (left, top) = (even(from.x, to.x), even(from.y, to.y))
        return PixelRect(
            x: left, y: top, width: even(from.maxX, to.maxX) - left, height: even(from.maxY, to.maxY) - top)
    }
}
