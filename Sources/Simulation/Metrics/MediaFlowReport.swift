public import MediaCore

/// The figures of a simulated flow.
public struct MediaFlowSummary: Hashable, Sendable {
    public var duration = Duration.zero
    /// The rate of arrived media over the whole duration.
    public var goodput = BitRate.zero
    /// The rate that left the sender, including padding.
    public var sendRate = BitRate.zero
    /// The controller's target, averaged over the samples.
    public var meanTarget = BitRate.zero
    /// The arrived media, divided by the capacity that the link had and that the encoder could use.
    public var utilization = 0.0
    /// The time of delivered packets in the link's queue.
    public var queueingDelay = DelayDistribution()
    /// The lost and dropped packets, divided by the sent packets.
    public var lossFraction = 0.0
    /// The time from capture to the arrival of a frame's last packet, including the pacer; complete frames only.
    public var frameDelay = DelayDistribution()
    /// The number of frames made or skipped.
    public var frameCount = 0
    /// The share of frames that took over 200 ms, stayed incomplete or were skipped by the sender.
    public var lateOrLostFraction = 0.0
    /// The share of frames that the sender skipped because its pacer held too much data.
    public var skippedFraction = 0.0
    /// The share of frames that stayed incomplete.
    public var lostFraction = 0.0
    /// The number of gaps of over 183 ms between complete frames.
    public var freezeCount = 0
    /// The share of time in gaps of over 183 ms between complete frames.
    public var freezeFraction = 0.0
    /// The share of padding in the sent bytes.
    public var paddingFraction = 0.0
    /// The first time at which the goodput of a second reached 90 % of the usable capacity; nil if never.
    public var rampTime: Duration?
    /// The share of the usable capacity that the flow missed in the 5 s after it doubled; nil if it never doubled.
    public var recoveryDeficit: Double?
    /// The number of keyframes made; all were requested.
    public var keyframeCount = 0
}

/// The result of a simulated flow.
public struct MediaFlowReport: Hashable, Sendable {
    public var summary: MediaFlowSummary
    public var samples: [MediaFlowSample]
    /// The figures of the flow with the names of all reports.
    public var metrics: MetricValues
    /// The percentiles from 0 to 100 of the delays in the path's queues and of frames, in ms.
    public var queueingDelayPercentiles: [Double]
    public var frameDelayPercentiles: [Double]
    /// The flow's reaction to each step of a scripted rate or, without a script, to each change to a half or double.
    public var reactions: [StepReaction]
    /// The flow's response to each change of a scripted rate.
    public var stepResponses: [StepResponse]
}
