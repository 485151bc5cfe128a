/// The parameters of SCReAM. Names in parentheses are those of draft-ietf-ccwg-rfc8298bis-screamv2. Where the authors'
/// code of 2026 differs from the draft, values are from the code.
public struct ScreamParameters: Hashable, Sendable {
    /// The target of the queueing delay (QDELAY_TARGET_LO). Beside flows that fill the queue it does not grow (draft,
    /// "Competing Flows Compensation"), as in the authors' code: the flow's own queues are mistaken for those of
    /// others.
    public var queueDelayTarget = Duration.milliseconds(60)
    /// The factors of the window after a loss (BETA_LOSS) and after a classic mark (BETA_ECN).
    public var lossFactor = 0.7
    public var markFactor = 0.9
    /// The loss rate below which losses with a short queue are not congestion (LOSS_RATE_THRESHOLD).
    public var lossRateThreshold = 0.01
    /// The limits of the ratio of bytes in flight to the window (REF_WND_OVERHEAD_MIN and _MAX).
    public var minimumOverhead = 1.5
    public var maximumOverhead = 3.0
    /// The largest ratio of the window to the bytes in flight (BYTES_IN_FLIGHT_HEAD_ROOM; 1.5 in the draft).
    public var inFlightHeadroom = 2.0
    /// The part of itself by which the window may grow in a round trip (MUL_INCREASE_FACTOR; 0.02 in the draft);
    /// `postCongestionRoundTrips` is the number of round trips without congestion until all of it is allowed
    /// (POST_CONGESTION_DELAY_RTT; 100 in the draft).
    public var multiplicativeIncrease = 0.05
    public var postCongestionRoundTrips = 50.0
    /// The round trip that replaces shorter ones (VIRTUAL_RTT).
    public var virtualRoundTrip = Duration.milliseconds(25)
    /// The shortest time between two reductions.
    public var reductionInterval = Duration.milliseconds(30)
    /// The ratio of the pacing rate to the target (PACKET_PACING_HEADROOM), and its largest increase for a large frame.
    public var pacingHeadroom = 1.5
    public var maximumFramePacing = 1.5
    /// The time that packets may wait at the sender before frames are skipped.
    public var maximumSenderDelay = Duration.milliseconds(100)
    /// The lead in sending time of an arrived packet after which a missing packet is lost (the idea of RFC 8985).
    public var reorderingWindow = Duration.milliseconds(30)
    /// The gains of the average of L4S marks when it rises and when it falls (L4S_AVG_G_UP and _DOWN).
    public var markGainUp = 1.0 / 8
    public var markGainDown = 1.0 / 128

    public init() {}
}
