public import MediaCore

/// A simulated flow in figures.
public struct MediaFlowSummary: Hashable, Sendable {
    public var duration = Duration.zero
    /// Media that arrived over the whole duration.
    public var goodput = BitRate.zero
    /// What left the sender, padding included.
    public var sendRate = BitRate.zero
    /// The controller's target, averaged over the samples.
    public var meanTarget = BitRate.zero
    /// Media that arrived over what the link could carry and the encoder may make.
    public var utilization = 0.0
    /// Time in the link's queue of delivered packets.
    public var queueingDelay = DelayDistribution()
    /// Lost and dropped packets over sent ones.
    public var lossFraction = 0.0
    /// From capture to the arrival of a frame's last packet, the pacer included; complete frames only.
    public var frameDelay = DelayDistribution()
    /// Frames made or skipped.
    public var frameCount = 0
    /// Frames that took over 200 ms, stayed incomplete or were skipped by the sender.
    public var lateOrLostFraction = 0.0
    /// Frames that the sender skipped, because its pacer held too much.
    public var skippedFraction = 0.0
    /// Frames that stayed incomplete.
    public var lostFraction = 0.0
    /// How many gaps of over 183 ms there were between complete frames.
    public var freezeCount = 0
    /// The share of time in gaps of over 183 ms between complete frames.
    public var freezeFraction = 0.0
    /// The share of padding in what was sent.
    public var paddingFraction = 0.0
    /// The first time at which the goodput of a second reached 90 % of what was usable; nil when it never did.
    public var rampTime: Duration?
    /// What the flow missed of what was usable in the 5 s after that doubled; nil when it never did.
    public var recoveryDeficit: Double?
    /// Keyframes made; all were asked for.
    public var keyframeCount = 0
}

/// What came of a simulated flow.
public struct MediaFlowReport: Hashable, Sendable {
    public var summary: MediaFlowSummary
    public var samples: [MediaFlowSample]
    /// The flow by the names that all reports use.
    public var metrics: MetricValues
    /// Delays in the path's queues and of frames at each percent from the least to the largest, in ms.
    public var queueingDelayPercentiles: [Double]
    public var frameDelayPercentiles: [Double]
    /// How the flow answered each step of a scripted rate, and else each change to a half or double.
    public var reactions: [StepReaction]
    /// How the flow answered each change of a scripted rate.
    public var stepResponses: [StepResponse]
}
