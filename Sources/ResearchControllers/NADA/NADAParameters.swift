import MediaCore

/// What NADA can be tuned by, with the defaults of RFC 8698, Figure 3, whose names stand in parentheses. The lowest and
/// the highest rate (RMIN, RMAX) are the controller's limits.
public struct NADAParameters: Hashable, Sendable {
    /// The weight of the flow among others on the same bottleneck (PRIO).
    public var priority = 1.0
    /// The congestion that a flow at its highest rate settles at (XREF).
    public var referenceCongestion = Duration.milliseconds(10)
    /// How strongly the rate follows the congestion's distance from the reference (KAPPA), and how much more its change
    /// (ETA).
    public var gain = 0.5
    public var changeWeight = 2.0
    /// The upper bound of the round-trip time that the gains were chosen for (TAU).
    public var maximumRoundTrip = Duration.milliseconds(500)
    /// The time between two reports (DELTA).
    public var feedbackInterval = Duration.milliseconds(100)
    /// Over how long delay, losses and rate are looked at (LOGWIN).
    public var observationWindow = Duration.milliseconds(500)
    /// A queueing delay above this says that a queue builds up (QEPS).
    public var queueBuildUp = Duration.milliseconds(10)
    /// What filtering the delay costs in time (DFILT).
    public var filterDelay = Duration.milliseconds(120)
    /// By how much the rate exceeds what arrives while it ramps up, at most (GAMMA_MAX), and the queueing delay that
    /// this may cause (QBOUND).
    public var maximumRampUp = 0.5
    public var rampUpDelay = Duration.milliseconds(50)
    /// For how many mean loss intervals after a loss delay is warped (MULTILOSS).
    public var lossExpiry = 7.0
    /// The queueing delay from which on it is warped (QTH), and how strongly (LAMBDA).
    public var warpThreshold = Duration.milliseconds(50)
    public var warpExponent = 0.5
    /// The ratios of lost and marked packets (PLRREF, PMRREF) that count as much as these delays (DLOSS, DMARK).
    public var referenceLoss = 0.01
    public var referenceMarking = 0.01
    public var lossPenalty = Duration.milliseconds(10)
    public var markingPenalty = Duration.milliseconds(2)
    /// The smoothing of the ratios (ALPHA).
    public var smoothing = 0.1
    /// The frame rate that the shaping buffer is judged by (FPS), and what of it slows the encoder (BETA_V) and speeds
    /// up sending (BETA_S).
    public var frameRate = 30.0
    public var encoderShaping = 0.1
    public var sendingShaping = 0.1
    /// The part of the rate that shaping may change (RFC 8698, equations 11 and 12).
    public var maximumShaping = 0.05
    /// The congestion beyond which more makes no difference: the authors' simulator has it, the RFC does not.
    public var maximumCongestion = Duration.milliseconds(500)
    /// Of how many packets the smallest delay counts (RFC 8698, section 5.1.1).
    public var filterLength = 15

    public init() {}
}
