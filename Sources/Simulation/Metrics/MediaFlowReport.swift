/// The result of a simulated flow.
public struct MediaFlowReport: Hashable, Sendable {
    public var samples: [MediaFlowSample]
    /// The figures of the flow with the names of all reports.
    public var metrics: MetricValues
    /// The percentiles from 0 to 100 of the delays in the path's queues and of frames, in ms.
    public var queueingDelayPercentiles: [Double]
    public var frameDelayPercentiles: [Double]
    /// The flow's reaction to each step of a scripted rate or, without a script, to each change to a half or double.
    public var reactions: [StepReaction]
    /// The number of keyframes made; all were requested.
    public var keyframeCount: Int
}
