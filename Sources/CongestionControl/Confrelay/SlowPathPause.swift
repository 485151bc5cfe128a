import MediaCore

/// Pauses video where the path carries too little for it: the minimum rate is a wish, and audio must get through.
///
/// A path that carries a good part of the minimum is sent fewer frames instead, since the window holds the others back.
/// During a pause nothing measures the path, so that video is tried again for a moment now and then.
struct SlowPathPause: Sendable {
    private enum State {
        case sending
        /// Too little is carried, since then.
        case slow(since: MonotonicInstant)
        case paused(until: MonotonicInstant)
        case trial(until: MonotonicInstant)
    }

    private let part: Double
    private let patience: Duration
    private let interval: Duration
    private let trial: Duration
    private var state = State.sending

    /// Whether no video is to be sent.
    var isActive: Bool {
        if case .paused = state { true } else { false }
    }

    init(parameters: ConfrelayParameters) {
        part = parameters.pausePart
        patience = parameters.pausePatience
        interval = parameters.pauseInterval
        trial = parameters.pauseTrial
    }

    /// - Parameters:
    ///   - rate: what may be sent over several frames; nil while nothing is heard, which tells nothing of it.
    ///   - minimum: the least rate that is asked for.
    ///   - delay: how long it takes until packets are heard of: a trial needs that longer.
    mutating func update(rate: BitRate?, minimum: BitRate, delay: Duration, now: MonotonicInstant) {
        guard let rate else {
            if case .slow = state { state = .sending }
            return
        }
        let isSlow = rate < minimum * part
        switch state {
        case .sending:
            if isSlow { state = .slow(since: now) }
        case .slow(let since):
            if !isSlow { state = .sending } else if now - since >= patience { state = .paused(until: now + interval) }
        case .paused(let until):
            if !isSlow { state = .sending } else if now >= until { state = .trial(until: now + trial + delay) }
        case .trial(let until):
            if !isSlow { state = .sending } else if now >= until { state = .paused(until: now + interval) }
        }
    }
}
