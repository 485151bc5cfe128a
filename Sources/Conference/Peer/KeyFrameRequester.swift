import MediaCore

/// Decides when to ask the remote sender for a keyframe: at once when one is needed, then again at a limited rate until
/// it comes.
struct KeyFrameRequester {
    /// Never ask more often than this, whatever the round-trip time.
    static let minimumInterval = Duration.milliseconds(250)
    static let maximumInterval = Duration.seconds(2)

    private(set) var isNeeded = false
    private var nextRequest = MonotonicInstant.zero
    private var interval = minimumInterval
    private(set) var requestCount: UInt64 = 0

    mutating func need(now: MonotonicInstant) {
        guard !isNeeded else { return }
        isNeeded = true
        interval = Self.minimumInterval
        nextRequest = max(nextRequest, now)
    }

    mutating func keyFrameArrived() {
        isNeeded = false
    }

    /// Whether a request goes out now. The interval grows from request to request, and is never below two round trips.
    mutating func takeRequest(roundTripTime: Duration, now: MonotonicInstant) -> Bool {
        guard isNeeded, now >= nextRequest else { return false }
        requestCount &+= 1
        interval = min(max(interval, roundTripTime * 2), Self.maximumInterval)
        nextRequest = now + interval
        interval = min(interval * 3 / 2, Self.maximumInterval)
        return true
    }

    var nextDeadline: MonotonicInstant { isNeeded ? nextRequest : .distantFuture }
}
