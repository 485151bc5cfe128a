import MediaCore

/// What SCReAM can be tuned by. Names in parentheses are those of draft-ietf-ccwg-rfc8298bis-screamv2; values are those
/// of the authors' code of 2026 where that has moved on from the draft.
public struct ScreamParameters: Hashable, Sendable {
    /// The queueing delay that is aimed at (QDELAY_TARGET_LO), and the highest that it may become beside flows that
    /// fill the queue (QDELAY_TARGET_HI).
    public var queueDelayTarget = Duration.milliseconds(60)
    public var maximumQueueDelayTarget = Duration.milliseconds(300)
    /// Whether the target grows beside flows that fill the queue (draft, "Competing Flows Compensation"). Off, as in
    /// the authors' code: queues of one's own making are mistaken for others'.
    public var adaptsQueueDelayTarget = false
    /// What remains of the window after a loss (BETA_LOSS) and after a classic mark (BETA_ECN).
    public var lossFactor = 0.7
    public var markFactor = 0.9
    /// Losses rarer than this, while the queue is short, are not congestion (LOSS_RATE_THRESHOLD).
    public var lossRateThreshold = 0.01
    /// How much may be in flight over the window, at least and at most (REF_WND_OVERHEAD_MIN and _MAX).
    public var minimumOverhead = 1.5
    public var maximumOverhead = 3.0
    /// How far the window may grow beyond what was in flight (BYTES_IN_FLIGHT_HEAD_ROOM; 1.5 in the draft).
    public var inFlightHeadroom = 2.0
    /// By what part of itself the window may grow in a round trip (MUL_INCREASE_FACTOR; 0.02 in the draft), and after
    /// how many round trips without congestion by all of it (POST_CONGESTION_DELAY_RTT; 100 in the draft).
    public var multiplicativeIncrease = 0.05
    public var postCongestionRoundTrips = 50.0
    /// Shorter round trips count as this (VIRTUAL_RTT).
    public var virtualRoundTrip = Duration.milliseconds(25)
    /// The shortest time between two reductions.
    public var reductionInterval = Duration.milliseconds(30)
    /// The rate of sending over the target (PACKET_PACING_HEADROOM), and how much more it may be for a large frame.
    public var pacingHeadroom = 1.5
    public var maximumFramePacing = 1.5
    /// How long packets may wait at the sender before frames are skipped.
    public var maximumSenderDelay = Duration.milliseconds(100)
    /// So much later sent packets must have arrived before a missing one is lost (RFC 8985's idea).
    public var reorderingWindow = Duration.milliseconds(30)
    /// Gains of the average of L4S marks, rising and falling (L4S_AVG_G_UP and _DOWN).
    public var markGainUp = 1.0 / 8
    public var markGainDown = 1.0 / 128

    public init() {}
}
