import MediaCore

/// Maps the times of a sender's stream onto the room's clock.
///
/// A sender's clock has an origin of its own, and runs a little faster or slower than the relay's. The difference
/// between the two is that of the packets that travelled fastest in the last seconds. The mapping follows it slowly, so
/// that a delayed packet does not move it and audio and video of one sender, whose fastest packets take equally long,
/// stay together. A jump of the sender's clock anchors the stream anew.
struct TrackClock {
    /// The largest distance by which a stream's clock may jump ahead of the time that has passed, or stay behind it. No
    /// sample lies farther in the future either: small jumps add up.
    static let tolerance = Duration.seconds(5)
    /// The largest distance by which it may jump back. Pictures that are reordered go back by less.
    static let backwardTolerance = Duration.seconds(1)
    /// The time over which packets are compared with each other: twice this at most.
    private static let window = Duration.seconds(5)
    /// The speed with which the mapping follows, in seconds a second.
    private static let maximumSlew = 0.005
    /// A difference that is followed at once.
    private static let step = Duration.milliseconds(200)
    /// At the beginning of a stream, smaller differences are followed at once for this time: a live stream may begin
    /// with packets that have waited.
    private static let settling = Duration.seconds(1)

    private struct Last {
        var media: Int64
        var arrival: MonotonicInstant
    }

    /// The room's time less the stream's, in nanoseconds; nil before the first sample.
    private var offset: Int64?
    private var last: Last?
    /// The smallest differences of arrival and stream time, in this window and in the one before.
    private var smallest = Int64.max
    private var formerSmallest: Int64?
    private var windowStart = MonotonicInstant.zero

    /// A sample's time on the room's clock.
    struct Reading: Equatable {
        var time: MonotonicInstant
        /// True if the stream's clock has jumped, so that what came before is no measure of it.
        var isAnchor = false
    }

    /// - Parameters:
    ///   - media: The sample's time on the sender's clock, unwrapped.
    ///   - arrival: When it came.
    mutating func time(of media: MediaTime, arrival: MonotonicInstant) -> Reading {
        let media = Self.nanoseconds(media)
        let difference = Self.subtract(arrival.nanoseconds, media)
        let isEarly = offset.map { Self.subtract($0, difference) > Self.tolerance.nanoseconds } ?? false
        let isAnchor = isEarly || last.map { hasJumped(since: $0, to: media, arrival: arrival) } ?? false
        let elapsed = last.map { max(arrival - $0.arrival, .zero) } ?? .zero
        last = Last(media: media, arrival: max(arrival, last?.arrival ?? arrival))
        if let offset, !isAnchor {
            let wanted = observe(difference, arrival: arrival)
            let isSettling = formerSmallest == nil && arrival - windowStart <= Self.settling
            self.offset =
                isSettling
                ? wanted : Self.approach(wanted, from: offset, elapsed: elapsed, mayStep: formerSmallest != nil)
        } else {
            offset = difference
            smallest = difference
            formerSmallest = nil
            windowStart = arrival
        }
        let (time, overflow) = media.addingReportingOverflow(offset ?? difference)
        return Reading(time: MonotonicInstant(nanoseconds: overflow ? arrival.nanoseconds : time), isAnchor: isAnchor)
    }

    private func hasJumped(since last: Last, to media: Int64, arrival: MonotonicInstant) -> Bool {
        let advance = Self.subtract(media, last.media)
        if advance < -Self.backwardTolerance.nanoseconds { return true }
        let excess = Self.subtract(advance, (arrival - last.arrival).nanoseconds)
        return excess.magnitude > UInt64(Self.tolerance.nanoseconds)
    }

    /// The smallest difference of the last seconds.
    private mutating func observe(_ difference: Int64, arrival: MonotonicInstant) -> Int64 {
        if arrival - windowStart >= Self.window {
            formerSmallest = smallest
            smallest = difference
            windowStart = arrival
        }
        smallest = min(smallest, difference)
        return min(smallest, formerSmallest ?? smallest)
    }

    private static func approach(_ wanted: Int64, from offset: Int64, elapsed: Duration, mayStep: Bool) -> Int64 {
        let error = subtract(wanted, offset)
        if mayStep, error.magnitude > UInt64(step.nanoseconds) { return wanted }
        let most = Int64(clamping: Double(elapsed.nanoseconds) * maximumSlew)
        return offset + min(max(error, -most), most)
    }

    private static func subtract(_ left: Int64, _ right: Int64) -> Int64 {
        let (difference, overflow) = left.subtractingReportingOverflow(right)
        return overflow ? (left < right ? .min + 1 : .max) : difference
    }

    private static func nanoseconds(_ time: MediaTime) -> Int64 {
        let scale = Int64(max(time.timescale, 1))
        let (whole, rest) = time.value.quotientAndRemainder(dividingBy: scale)
        let (scaled, overflow) = whole.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return whole < 0 ? .min + 1_000_000_000 : .max - 1_000_000_000 }
        return scaled &+ rest * 1_000_000_000 / scale
    }
}
