public import MediaCore

/// A congestion controller's decision.
public struct ControlDecision: Hashable, Sendable {
    /// The rate of everything that is sent on average: media of every kind, headers and retransmissions.
    public var targetBitRate: BitRate
    /// The average rate if the target is for the next frame alone; nil if they are equal.
    public var sustainedBitRate: BitRate?
    /// The rate over several frames.
    public var averageBitRate: BitRate { sustainedBitRate ?? targetBitRate }
    /// The rate at which queued packets leave.
    public var pacingRate: BitRate
    /// Packets that leave within this time of each other may leave together; nil for the pacer's own.
    public var pacingBurst: Duration?
    /// The rate up to which padding supplements media; zero for none.
    public var paddingRate: BitRate
    /// The limit of data in flight; nil for no limit.
    public var congestionWindow: DataSize?
    /// Probes to send, each handed out once.
    public var newProbeClusters: [ProbeCluster]
    /// The longest wait of packets at the sender before it skips frames; nil leaves it to the sender.
    public var frameTimeout: Duration?
    /// The reason for which no video may be sent now, not even at the minimum rate; nil while video is sent. Audio
    /// continues in any case.
    public var videoPause: VideoPause?
    /// The latest time of the next call; one that is not after this call stands for a millisecond later.
    public var nextWakeUp: MonotonicInstant

    public init(
        targetBitRate: BitRate, sustainedBitRate: BitRate? = nil, pacingRate: BitRate,
        pacingBurst: Duration? = nil, paddingRate: BitRate = .zero, congestionWindow: DataSize? = nil,
        newProbeClusters: [ProbeCluster] = [], frameTimeout: Duration? = nil,
        videoPause: VideoPause? = nil, nextWakeUp: MonotonicInstant
    ) {
        self.targetBitRate = targetBitRate
        self.sustainedBitRate = sustainedBitRate
        self.pacingRate = pacingRate
        self.pacingBurst = pacingBurst
        self.paddingRate = paddingRate
        self.congestionWindow = congestionWindow
        self.newProbeClusters = newProbeClusters
        self.frameTimeout = frameTimeout
        self.videoPause = videoPause
        self.nextWakeUp = nextWakeUp
    }
}
