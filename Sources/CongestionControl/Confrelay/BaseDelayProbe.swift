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

    /// The end of the last pause.
    private var lastEnd: MonotonicInstant?
    private var current: (start: MonotonicInstant, drained: MonotonicInstant, end: MonotonicInstant)?

    /// True while nothing beyond the minimum may be sent.
    var isActive: Bool { current != nil }

    /// Returns true if packets from before the pause may still be in flight, or without feedback.
    func isDraining(now: MonotonicInstant) -> Bool { current.map { now < $0.drained } ?? false }

    init(parameters: ConfrelayParameters) {
        length = parameters.probeLength
        ownQueue = parameters.ownQueue
    }

    /// Begins a pause if the path needs one, and ends it when the base was seen or the time is over.
    mutating func update(path: inout PathModel, now: MonotonicInstant) {
        if let (start, drained, end) = current {
            // A queue that others are assumed to fill is judged by packets sent after the pause took effect.
            let isOver =
                path.competingDelay == nil
                ? path.baseForward.wasSeen(since: start) : path.lastHeardSendTime > drained.seconds
            guard now >= end || isOver else { return }
            current = nil
            lastEnd = now
            // If the single packet that could show the base got lost, the pause showed nothing.
            if isOver || path.lastHeardSendTime > drained.seconds { path.baseProbed(now: now) }
        } else if path.baseForward.needsProbe(now: now), lastEnd.map({ now - $0 >= Self.leastInterval }) ?? true {
            // Packets from before the pause must have arrived, and their feedback too, before the pause shows anything.
            let roundTrip = path.roundTripTime ?? .zero
            guard let competing = path.competingDelay else {
                let drained = now + roundTrip + .seconds(clamping: path.queueDelay)
                current = (now, drained, drained + length)
                return
            }
            // Packets sent then need feedback as well, behind the packets of others.
            let queue = min(.seconds(clamping: max(competing, path.queueDelay, 0)), ownQueue)
            let drained = now + roundTrip + queue
            current = (now, drained, drained + roundTrip + queue + length)
        }
    }
}
