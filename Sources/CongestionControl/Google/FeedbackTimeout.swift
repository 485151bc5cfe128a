import MediaCore

/// Notices that receiver reports stopped although packets are sent, on a path that tells of itself by nothing else, and
/// lowers the rate step by step while it lasts. Where transport-wide feedback comes, others see to its silence.
struct FeedbackTimeout: Sendable {
    /// So far, beyond the shortest round trip, what was heard may lie behind what was sent: reports come only every few
    /// seconds (RFC 3550, 6.2).
    static let allowance = Duration.seconds(6)
    static let stepInterval = Duration.milliseconds(250)
    static let stepFactor = 0.8

    /// Whether the receiver sends transport-wide feedback.
    var hasTransportFeedback = false
    /// Whether the rate was lowered and no timely feedback came since.
    private(set) var isSilent = false

    private var shortestRoundTrip = WindowedMinimum<Duration>(window: .seconds(15))
    /// When the oldest packet that nothing was heard of left.
    private var firstUnanswered: MonotonicInstant?
    private var lastSent: MonotonicInstant?
    private var lastStep: MonotonicInstant?

    mutating func packetSent(now: MonotonicInstant) {
        firstUnanswered = firstUnanswered ?? now
        lastSent = now
    }

    /// Feedback came that speaks of packets sent until then, after that round trip; returns whether it ends a silence.
    mutating func heard(ofPacketSent sendTime: MonotonicInstant, roundTripTime: Duration?, now: MonotonicInstant)
        -> Bool
    {
        if let roundTripTime { shortestRoundTrip.add(roundTripTime, now: now) }
        if let lastSent, lastSent > sendTime {
            firstUnanswered = max(firstUnanswered ?? sendTime, sendTime)
        } else {
            firstUnanswered = nil
        }
        // A link that lets a packet through each second is heard of, but of long ago.
        guard now - sendTime < silenceLimit else { return false }
        defer { isSilent = false }
        lastStep = nil
        return isSilent
    }

    /// When the next step is due if nothing is heard and sending goes on; nil while nothing is unanswered.
    var nextStep: MonotonicInstant? {
        guard let firstUnanswered else { return nil }
        let first = firstUnanswered + silenceLimit
        return lastStep.map { max($0 + Self.stepInterval, first) } ?? first
    }

    /// The factor by which the rate falls now; nil when no step is due.
    mutating func step(now: MonotonicInstant) -> Double? {
        // What counts is how long there was something to answer: a pause in sending is no silence of the receiver.
        guard let firstUnanswered, let lastSent, lastSent - firstUnanswered >= silenceLimit - Self.stepInterval,
            let nextStep, now >= nextStep
        else { return nil }
        lastStep = now
        isSilent = true
        return Self.stepFactor
    }

    private var silenceLimit: Duration {
        Self.allowance + max(shortestRoundTrip.value ?? .zero, .zero)
    }
}
