import MediaCore

/// Pauses video if the path carries too little for it: audio must get through even if the minimum rate does not.
///
/// A path that carries a good part of the minimum gets fewer frames instead, because the window holds the others back.
/// During a pause nothing measures the path, so video is tried again for a moment at intervals.
struct SlowPathPause: Sendable {
    private enum State {
        case sending
        /// The path has carried too little since then.
        case slow(since: MonotonicInstant)
        case paused(until: MonotonicInstant)
        case trial(until: MonotonicInstant)
    }

    private let part: Double
    private let patience: Duration
    private let interval: Duration
    private let trial: Duration
    private var state = State.sending

    /// True if no video may be sent.
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
    ///   - rate: The rate that may be sent over several frames; nil without feedback, which says nothing about it.
    ///   - minimum: The configured minimum rate.
    ///   - delay: The time until feedback on a packet comes: a trial needs this additional time.
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
