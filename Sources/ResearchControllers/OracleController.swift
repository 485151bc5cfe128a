public import CongestionControl
public import LinkEmulation
public import MediaCore

/// A reference that knows the link's future rate. It shows the upper limit for controllers and is not a real one.
///
/// Each frame is as large as the data that the link delivers until the next frame, minus the waiting data. Packets
/// leave as the link can take them, so that almost no queue builds up.
public struct OracleController: CongestionController {
    /// The time between two frames.
    private let frameInterval: Duration
    /// The time by which packets are released early.
    static let releaseAhead = Duration.milliseconds(5)
    /// The part of the capacity that is used. At the full capacity, the noise of frame sizes would accumulate in a
    /// queue.
    static let utilization = 0.995

    /// The data that the sender keeps waiting, so that a frame smaller than expected leaves no gap on the link.
    static let reserve = Duration.milliseconds(6)

    /// A factor so high that only the window decides when packets leave.
    static let pacingFactor = 10.0

    private let rate: LinkRate
    /// The rate of the link's policer; nil without one.
    private let policedRate: BitRate?
    /// The size that the link carries for each packet in addition to the size that the controller knows.
    private let packetOverhead: DataSize
    private var sentPackets = 0
    private var sentSize = DataSize.zero
    private var limits: RateLimits
    private var server: LinkServer
    /// The time at which the sent packets will have left the link, since the link began at zero.
    private var busyUntil = Duration.zero
    /// The time at which the policer will have earned the sent packets, since the link began at zero. Its burst stays
    /// unused.
    private var policedUntil = Duration.zero
    private var inFlight = DataSize.zero
    private var senderQueue = DataSize.zero
    private var decision: ControlDecision
    private var roundTripTime: Duration?

    /// Creates an oracle for a link that begins at the origin of time.
    ///
    /// - Parameter packetOverhead: The size that the link carries for each packet in addition to the size that the
    ///   controller knows.
    public init(
        link: LinkProfile, frameInterval: Duration, limits: RateLimits, packetOverhead: DataSize = .zero
    ) {
        rate = link.rate
        policedRate = link.policer?.rate
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
        let size = packet.size + packetOverhead
        busyUntil = server.serve(size, now: now) - MonotonicInstant.zero
        guard let policedRate else { return }
        let begin = MonotonicInstant.zero + max(policedUntil, now - MonotonicInstant.zero)
        policedUntil = begin + policedRate.duration(for: size) - MonotonicInstant.zero
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

    /// The share of the packet sizes that the controller knows in the bytes that the link carries.
    private var packetShare: Double {
        guard sentPackets > 0 else { return 1 }
        return Double(sentSize.bytes) / Double(sentSize.bytes + sentPackets * packetOverhead.bytes)
    }

    /// Returns the size that the link can still carry until a time; nil if the rate is unlimited.
    private func capacity(until end: Duration, now: Duration) -> DataSize? {
        let begin = max(busyUntil, now)
        let carried = rate.capacity(from: begin, to: max(end, begin))
        let policed = policedRate?.dataSize(over: max(end - max(policedUntil, now), .zero))
        guard let carried, let policed else { return carried ?? policed }
        return min(carried, policed)
    }

    public var snapshot: ControllerSnapshot {
        ControllerSnapshot(
            targetBitRate: decision.targetBitRate, limit: .configuration, roundTripTime: roundTripTime)
    }
}
