import MediaCore

/// A pause in sending to see the delay of the empty path.
///
/// Flows that share a link see the queue empty together, so their pauses come together as well, and all of them learn
/// the same base: one that came when the queue stood does not take that for the empty path.
struct BaseDelayProbe: Sendable {
    private let length: Duration
    private let ownQueue: Duration
    /// A pause that showed nothing is not repeated at once: something has to be sent in between.
    private static let leastInterval = Duration.seconds(1)

    /// When the last pause ended.
    private var lastEnd: MonotonicInstant?
    private var current: (start: MonotonicInstant, drained: MonotonicInstant, end: MonotonicInstant)?

    /// Whether nothing beyond the minimum is to be sent.
    var isActive: Bool { current != nil }

    /// Whether what left before the pause may still be on its way, or be unheard of.
    func isDraining(now: MonotonicInstant) -> Bool { current.map { now < $0.drained } ?? false }

    init(parameters: ConfrelayParameters) {
        length = parameters.probeLength
        ownQueue = parameters.ownQueue
    }

    /// Begins a pause where the path needs one, and ends it when the base was seen or time is up.
    mutating func update(path: inout PathModel, now: MonotonicInstant) {
        if let (start, drained, end) = current {
            // A queue that others are believed to fill is judged by what left after the pause took effect.
            let isOver =
                path.competingDelay == nil
                ? path.baseForward.wasSeen(since: start) : path.lastHeardSendTime > drained.seconds
            guard now >= end || isOver else { return }
            current = nil
            lastEnd = now
            // Where the one packet that was to tell got lost, the pause showed nothing.
            if isOver || path.lastHeardSendTime > drained.seconds { path.baseProbed(now: now) }
        } else if path.baseForward.needsProbe(now: now), lastEnd.map({ now - $0 >= Self.leastInterval }) ?? true {
            // What left before the pause must have arrived, and be heard of, before the pause shows.
            let roundTrip = path.roundTripTime ?? .zero
            guard let competing = path.competingDelay else {
                let drained = now + roundTrip + .seconds(clamping: path.queueDelay)
                current = (now, drained, drained + length)
                return
            }
            // What left then must be heard of as well, behind others' packets.
            let queue = min(.seconds(clamping: max(competing, path.queueDelay, 0)), ownQueue)
            let drained = now + roundTrip + queue
            current = (now, drained, drained + roundTrip + queue + length)
        }
    }
}
