public import MediaCore

/// Decides when to ask the remote sender for a keyframe: at once when one is needed, then again at a limited rate until
/// it comes.
public struct KeyframeRequester: Sendable {
    /// The least time between two requests, for any round-trip time.
    public static let minimumInterval = Duration.milliseconds(250)
    /// The interval grows up to this.
    public static let maximumInterval = Duration.seconds(2)

    /// True if a keyframe is needed and has not come.
    public private(set) var isNeeded = false
    private var nextRequest = MonotonicInstant.zero
    /// The time before which nothing is requested, although what the last request was for has come.
    private var earliestRequest = MonotonicInstant.zero
    private var interval = minimumInterval
    /// The number of requests so far.
    public private(set) var requestCount: UInt64 = 0

    /// Creates one that needs no keyframe.
    public init() {}

    /// Records that the decoder cannot continue without a keyframe.
    public mutating func need(now: MonotonicInstant) {
        guard !isNeeded else { return }
        isNeeded = true
        interval = Self.minimumInterval
        // The interval that had grown for the last keyframe was for a sender that did not answer.
        nextRequest = max(earliestRequest, now)
    }

    /// Records that the keyframe came.
    public mutating func keyframeArrived() {
        isNeeded = false
    }

    /// Returns true if a request must be sent now. The interval grows with each request, and is at least two round
    /// trips.
    public mutating func takeRequest(roundTripTime: Duration, now: MonotonicInstant) -> Bool {
        guard isNeeded, now >= nextRequest else { return false }
        requestCount &+= 1
        let least = min(max(Self.minimumInterval, roundTripTime * 2), Self.maximumInterval)
        earliestRequest = now + least
        interval = max(interval, least)
        nextRequest = now + interval
        interval = min(interval * 3 / 2, Self.maximumInterval)
        return true
    }

    /// The next time at which `takeRequest` may return true.
    public var nextDeadline: MonotonicInstant { isNeeded ? nextRequest : .distantFuture }
}
