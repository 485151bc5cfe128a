/// The parameters of NADA, with the defaults of RFC 8698, Figure 3, and its names in parentheses. The lowest and the
/// highest rate (RMIN, RMAX) are the controller's limits.
public struct NADAParameters: Hashable, Sendable {
    /// The weight of the flow among others on the same bottleneck (PRIO).
    public var priority = 1.0
    /// The congestion at which a flow settles at its highest rate (XREF).
    public var referenceCongestion = Duration.milliseconds(10)
    /// The gain for the congestion's distance from the reference (KAPPA); `changeWeight` is the weight of its change
    /// (ETA).
    public var gain = 0.5
    public var changeWeight = 2.0
    /// The upper bound of the round-trip time for which the gains were chosen (TAU).
    public var maximumRoundTrip = Duration.milliseconds(500)
    /// The time between two reports (DELTA).
    public var feedbackInterval = Duration.milliseconds(100)
    /// The time over which delay, losses and rate are observed (LOGWIN).
    public var observationWindow = Duration.milliseconds(500)
    /// The queueing delay above which a queue is building up (QEPS).
    public var queueBuildUp = Duration.milliseconds(10)
    /// The delay that the delay filter adds (DFILT).
    public var filterDelay = Duration.milliseconds(120)
    /// The highest factor by which the rate exceeds the receiving rate during ramp-up (GAMMA_MAX); `rampUpDelay` is the
    /// queueing delay that this may cause (QBOUND).
    public var maximumRampUp = 0.5
    public var rampUpDelay = Duration.milliseconds(50)
    /// The number of mean loss intervals after a loss in which delay is warped (MULTILOSS).
    public var lossExpiry = 7.0
    /// The queueing delay from which on delay is warped (QTH), and the strength of the warping (LAMBDA).
    public var warpThreshold = Duration.milliseconds(50)
    public var warpExponent = 0.5
    /// The ratios of lost and marked packets (PLRREF, PMRREF) that count as much as the penalties (DLOSS, DMARK).
    public var referenceLoss = 0.01
    public var referenceMarking = 0.01
    public var lossPenalty = Duration.milliseconds(10)
    public var markingPenalty = Duration.milliseconds(2)
    /// The smoothing factor of the ratios (ALPHA).
    public var smoothing = 0.1
    /// The frame rate for the shaping buffer (FPS), and the factors by which the buffer slows the encoder (BETA_V) and
    /// speeds up sending (BETA_S).
    public var frameRate = 30.0
    public var encoderShaping = 0.1
    public var sendingShaping = 0.1
    /// The largest part of the rate that shaping may change (RFC 8698, equations 11 and 12).
    public var maximumShaping = 0.05
    /// The upper bound of the congestion signal. The authors' simulator has one, the RFC does not.
    public var maximumCongestion = Duration.milliseconds(500)
    /// The number of packets over which the minimum filter of the delay runs (RFC 8698, section 5.1.1).
    public var filterLength = 15

    public init() {}
}
