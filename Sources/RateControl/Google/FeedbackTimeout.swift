import MediaCore

/// Notices that feedback stopped although packets are sent, and lowers the rate step by step while it lasts.
struct FeedbackTimeout: Sendable {
    /// So long beyond a round trip nothing may be heard.
    static let allowance = Duration.seconds(1)
    /// Receivers without transport-wide feedback report only every few seconds (RFC 3550, 6.2).
    static let allowanceForReports = Duration.seconds(6)
    static let stepInterval = Duration.milliseconds(250)
    static let stepFactor = 0.8

    /// Whether the receiver sends transport-wide feedback.
    var hasTransportFeedback = false
    var roundTripTime: Duration?
    /// Whether the rate was lowered and nothing was heard since.
    private(set) var isSilent = false

    /// When the first packet since the last feedback left.
    private var firstUnanswered: MonotonicInstant?
    private var lastSent: MonotonicInstant?
    private var lastStep: MonotonicInstant?

    mutating func packetSent(now: MonotonicInstant) {
        firstUnanswered = firstUnanswered ?? now
        lastSent = now
    }

    /// Something was heard; returns whether that ends a silence.
    mutating func heard() -> Bool {
        defer { isSilent = false }
        firstUnanswered = nil
        lastStep = nil
        return isSilent
    }

    /// When the next step is due if nothing is heard and sending goes on; nil while nothing is unanswered.
    var nextStep: MonotonicInstant? {
        guard let firstUnanswered else { return nil }
        return lastStep.map { $0 + Self.stepInterval } ?? firstUnanswered + silenceLimit
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
        (hasTransportFeedback ? Self.allowance : Self.allowanceForReports) + max(roundTripTime ?? .zero, .zero)
    }
}
