import MediaCore

/// Lowers the rate step by step while receiver reports are missing although packets are sent, on a path without other
/// feedback. With transport-wide feedback, other parts detect its absence.
struct FeedbackTimeout: Sendable {
    /// The time beyond the shortest round trip for which feedback may be missing: reports come only every few seconds
    /// (RFC 3550, 6.2).
    static let allowance = Duration.seconds(6)
    static let stepInterval = Duration.milliseconds(250)
    static let stepFactor = 0.8

    /// True if the receiver sends transport-wide feedback.
    var hasTransportFeedback = false
    /// True if the rate was lowered and no timely feedback came since.
    private(set) var isSilent = false

    private var shortestRoundTrip = WindowedMinimum<Duration>(window: .seconds(15))
    /// The sending time of the oldest packet without feedback.
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

    /// The time of the next step if no feedback comes and sending continues; nil while no packet is without feedback.
    var nextStep: MonotonicInstant? {
        guard let firstUnanswered else { return nil }
        let first = firstUnanswered + silenceLimit
        return lastStep.map { max($0 + Self.stepInterval, first) } ?? first
    }

    /// The factor by which the rate falls now; nil when no step is due.
    mutating func step(now: MonotonicInstant) -> Double? {
        // Only time with unanswered packets counts: a pause in sending is no silence of the receiver.
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
