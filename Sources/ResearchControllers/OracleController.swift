public import CongestionControl
public import LinkEmulation
public import MediaCore

/// Knows what the link will carry: the ceiling of what a controller can reach, not a controller.
///
/// Each frame is as large as what the link delivers until the next one, less what already waits for it, and packets
/// leave as the link can take them, so that next to nothing queues.
public struct OracleController: CongestionController {
    /// The time from frame to frame.
    private let frameInterval: Duration
    /// How far ahead packets are released.
    static let releaseAhead = Duration.milliseconds(5)
    /// The part of the capacity that is used: the noise of frame sizes would otherwise pile up.
    static let utilization = 0.995

    /// What is kept waiting at the sender, so that a frame smaller than expected leaves no gap on the link.
    static let reserve = Duration.milliseconds(6)

    /// The window alone says when packets leave.
    static let pacingFactor = 10.0

    private let rate: LinkRate
    /// What the link carries of each packet besides the size that a controller is told.
    private let packetOverhead: DataSize
    private var sentPackets = 0
    private var sentSize = DataSize.zero
    private var limits: RateLimits
    private var server: LinkServer
    /// When what was sent will have left the link, since the link began at zero.
    private var busyUntil = Duration.zero
    private var inFlight = DataSize.zero
    private var senderQueue = DataSize.zero
    private var decision: ControlDecision
    private var roundTripTime: Duration?

    /// Creates an oracle for a link that begins at the origin of time.
    ///
    /// - Parameter packetOverhead: What the link carries of each packet besides the size that a controller is told.
    public init(
        link: LinkProfile, frameInterval: Duration, limits: RateLimits, packetOverhead: DataSize = .zero
    ) {
        rate = link.rate
        self.packetOverhead = packetOverhead
        server = LinkServer(rate: link.rate, start: .zero)
        self.frameInterval = frameInterval
        self.limits = limits
        decision = ControlDecision(targetBitRate: limits.start, pacingRate: limits.start, nextWakeUp: .zero)
    }

    public mutating func packetSent(_ packet: SentPacket, now: MonotonicInstant) {
        inFlight += packet.size
        sentPackets += 1
        sentSize += packet.size
        busyUntil = server.serve(packet.size + packetOverhead, now: now) - MonotonicInstant.zero
    }

    public mutating func feedbackReceived(_ report: TransportFeedbackReport, now: MonotonicInstant) {
        inFlight = report.dataInFlight
    }

    public mutating func senderQueueChanged(_ size: DataSize, now: MonotonicInstant) {
        senderQueue = size
    }

    public mutating func remoteEstimateReceived(_ estimate: BitRate, now: MonotonicInstant) {}
    public mutating func demandChanged(_ demand: BitRate, now: MonotonicInstant) {}

    public mutating func receiverReportReceived(
        fractionLost: Double, roundTripTime: Duration?, now: MonotonicInstant
    ) {
        self.roundTripTime = roundTripTime ?? self.roundTripTime
    }

    public mutating func limitsChanged(_ limits: RateLimits, now: MonotonicInstant) {
        self.limits = limits
    }

    public mutating func advance(now: MonotonicInstant) -> ControlDecision {
        let time = now - MonotonicInstant.zero
        var target = limits.maximum
        var window: DataSize?
        if let frame = capacity(until: time + frameInterval + Self.reserve, now: time),
            let release = capacity(until: time + Self.releaseAhead, now: time)
        {
            target =
                BitRate(DataSize(bytes: Double(frame.bytes) * packetShare) - senderQueue, over: frameInterval)
                * Self.utilization
            window = inFlight + release
        }
        decision = ControlDecision(
            targetBitRate: target.clamped(to: limits.range), sustainedBitRate: limits.maximum,
            pacingRate: limits.maximum * Self.pacingFactor,
            congestionWindow: window, nextWakeUp: now + .milliseconds(1))
        return decision
    }

    /// The part of what the link carries that is packets' sizes as a controller is told them.
    private var packetShare: Double {
        guard sentPackets > 0 else { return 1 }
        return Double(sentSize.bytes) / Double(sentSize.bytes + sentPackets * packetOverhead.bytes)
    }

    /// What the link still carries until a time; nil when that is without limit.
    private func capacity(until end: Duration, now: Duration) -> DataSize? {
        let begin = max(busyUntil, now)
        return rate.capacity(from: begin, to: max(end, begin))
    }

    public var snapshot: ControllerSnapshot {
        ControllerSnapshot(
            targetBitRate: decision.targetBitRate, pacingRate: decision.pacingRate, limit: .configuration,
            roundTripTime: roundTripTime)
    }
}
