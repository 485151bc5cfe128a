import MediaCore

/// A pause in sending to see the delay of the empty path.
///
/// Flows that share a link see the queue empty together, so their pauses come together as well, and all of them learn
/// the same base: one that came when the queue stood does not take that for the empty path.
struct BaseDelayProbe: Sendable {
    private let length: Duration
    private var current: (start: MonotonicInstant, end: MonotonicInstant)?

    /// Whether nothing beyond the minimum is to be sent.
    var isActive: Bool { current != nil }

    init(parameters: ConfrelayParameters) {
        length = parameters.probeLength
    }

    /// Begins a pause where the path needs one, and ends it when the base was seen or time is up.
    mutating func update(path: inout PathModel, now: MonotonicInstant) {
        if let (start, end) = current {
            guard now >= end || path.baseForward.wasSeen(since: start) else { return }
            current = nil
            path.baseProbed(now: now)
        } else if path.baseForward.needsProbe(now: now) {
            // What left before the pause must have arrived, and be heard of, before the pause shows.
            let inFlight = (path.roundTripTime ?? .zero) + .seconds(clamping: path.queueDelay)
            current = (now, now + length + inFlight)
        }
    }
}
