public import MediaCore

/// A controller's state at one moment: for metrics, recordings and graphs.
public struct ControllerSnapshot: Hashable, Sendable {
    /// The state of the path by the delay of packets.
    public enum NetworkState: String, Hashable, Sendable {
        /// Delay neither grows nor shrinks.
        case normal
        /// Delay grows: more is sent than the path carries.
        case overusing
        /// Delay shrinks: queues drain.
        case underusing
    }

    /// The last bound of the target.
    public enum Limit: String, Hashable, Sendable {
        /// No feedback has come yet.
        case start
        /// Growth or shrinking of delay.
        case delay
        /// Lost packets.
        case loss
        /// The receiver's estimate (REMB).
        case remoteEstimate
        /// Silence: feedback stopped.
        case feedbackTimeout
        /// The configured minimum or maximum.
        case configuration
    }

    public var targetBitRate: BitRate
    /// The rate that the receiver got, according to feedback; nil before enough feedback.
    public var acknowledgedBitRate: BitRate?
    /// The estimate of the bottleneck's capacity, if there is one.
    public var linkCapacity: BitRate?
    public var networkState: NetworkState
    public var limit: Limit
    /// The slope of one-way delay over time, as compared with the threshold; in ms, scaled by the detector's gain.
    public var delayTrend: Double
    /// The threshold that the trend is compared with, in ms.
    public var delayThreshold: Double
    /// The last fraction of packets lost.
    public var fractionLost: Double
    public var roundTripTime: Duration?
    /// The number of requested probe clusters.
    public var probeCount: Int

    public init(
        targetBitRate: BitRate, acknowledgedBitRate: BitRate? = nil, linkCapacity: BitRate? = nil,
        networkState: NetworkState = .normal, limit: Limit = .start,
        delayTrend: Double = 0, delayThreshold: Double = 0, fractionLost: Double = 0,
        roundTripTime: Duration? = nil, probeCount: Int = 0
    ) {
        self.targetBitRate = targetBitRate
        self.acknowledgedBitRate = acknowledgedBitRate
        self.linkCapacity = linkCapacity
        self.networkState = networkState
        self.limit = limit
        self.delayTrend = delayTrend
        self.delayThreshold = delayThreshold
        self.fractionLost = fractionLost
        self.roundTripTime = roundTripTime
        self.probeCount = probeCount
    }
}
