public import MediaCore

/// Follows the capacity of the path from frame to frame.
///
/// Each frame leaves as a train of packets slightly faster than the estimated capacity, so that the spacing of their
/// arrivals measures the capacity even if it is not used fully. The capacity and the packets in flight tell how long a
/// packet sent now would queue, before any feedback does. The target is the capacity less the rate that drains this
/// queue within about a frame. A long predicted queue, even if only because feedback is missing, holds all paced
/// packets. `docs/rate-control.md` has the equations and the purpose of each constant.
public struct ConfrelayCongestionController: CongestionController {
    /// The time between two looks at the clock while packets are in flight: a missing arrival is news as well.
    private static let interval = Duration.milliseconds(5)
    /// The same while nothing is in flight.
    static let idleInterval = Duration.milliseconds(100)

    private let shared: SharedParameters
    var parameters: ConfrelayParameters { shared.values }
    var limits: RateLimits
    var demand: BitRate
    var path: PathModel
    var baseDelayProbe: BaseDelayProbe
    var slowPathPause: SlowPathPause
    var losses: LossClassifier
    var marks: CongestionMarks
    var competition: CompetingTraffic
    var keepAlive: KeepAlive
    var usage = SendRateMeter()
    /// Moves the rate by receiver reports until transport-wide feedback comes.
    var reports: SendRateBounds
    var timeout = FeedbackTimeout()
    var remoteEstimate: BitRate?
    var senderQueue = DataSize.zero
    /// The seconds from the moment at which the target is read for a frame until that frame may leave.
    var frameDelay = 0.0
    var reportedRoundTripTime: Duration?
    /// True if a report came without feedback on packets before it.
    var hasReceiverReport = false

    var target: BitRate
    var limit = ControllerSnapshot.Limit.start
    /// The path's estimated rate now, bytes per second.
    var capacity: Double
    /// The predicted queueing of a packet sent now, in seconds: on the path, and behind packets that wait at the
    /// sender.
    var pathDelay = 0.0
    var queueDelay = 0.0
    /// True if no paced packet may leave, so that the empty path shows.
    var isSilent = false
    var lastUpdate: MonotonicInstant
    private var newProbe: ProbeCluster?
    private var probeCount = 0
    private var arrivals: [Arrival] = []

    private struct Arrival {
        var result: PacketResult
        var time: MonotonicInstant
    }

    /// Creates a controller that starts at `limits.start`.
    public init(
        limits: RateLimits, parameters: ConfrelayParameters = ConfrelayParameters(), now: MonotonicInstant
    ) {
        self.limits = limits
        shared = SharedParameters(parameters)
        demand = limits.maximum
        target = limits.start
        capacity = max(limits.start.bytesPerSecond, CapacityEstimator.floor)
        path = PathModel(start: capacity, shared)
        baseDelayProbe = BaseDelayProbe(parameters: parameters)
        slowPathPause = SlowPathPause(parameters: parameters)
        losses = LossClassifier(shared)
        marks = CongestionMarks(parameters: parameters)
        competition = CompetingTraffic(parameters: parameters)
        keepAlive = KeepAlive(parameters: parameters)
        reports = SendRateBounds(limits: limits)
        lastUpdate = now
    }

    public mutating func packetSent(_ packet: SentPacket, now: MonotonicInstant) {
        timeout.packetSent(now: now)
        path.packetSent(packet)
        usage.add(packet.size, now: now)
        keepAlive.packetSent()
    }

    public mutating func feedbackReceived(_ report: TransportFeedbackReport, now: MonotonicInstant) {
        guard let newest = report.results.map(\.sent.transportSequence).max() else { return }
        let isFirst = !timeout.hasTransportFeedback
        if isFirst { beginFeedback() }
        keepAlive.heard(now: now)
        takeArrivals(of: report)
        path.feedbackReceived(newestSequence: newest, newestArrival: arrivals.last?.time.seconds, now: now)
        countLosses(report)
        for arrival in arrivals {
            // A retransmission has the old number: its delay is that of the repair.
            guard !arrival.result.wasReportedMissing else { continue }
            let packet = arrival.result.sent
            let wait = path.packetArrived(packet, at: arrival.time.seconds, now: now)
            losses.received(packet, wait: wait)
            marks.received(arrival.result.ecn)
        }
        losses.update(now: now)
        // A stream that has filled a queue already needs no burst.
        if isFirst, path.queueDelay <= parameters.holdDelay.seconds { probeStart() }
        update(now: now)
    }

    public mutating func remoteEstimateReceived(_ estimate: BitRate, now: MonotonicInstant) {
        // Zero would be silence for ever.
        remoteEstimate = estimate > .zero ? estimate : nil
        reports.setRemoteEstimate(estimate)
        update(now: now)
    }

    public mutating func receiverReportReceived(
        fractionLost: Double, roundTripTime: Duration?, now: MonotonicInstant
    ) {
        // Transport-wide feedback says the same sooner and with more detail.
        guard !timeout.hasTransportFeedback else { return }
        hasReceiverReport = true
        _ = timeout.heard(ofPacketSent: now, roundTripTime: roundTripTime, now: now)
        if let roundTripTime, roundTripTime >= .zero {
            reportedRoundTripTime = roundTripTime
            reports.roundTripTime = roundTripTime
        }
        reports.addLossReport(fractionLost, now: now)
        update(now: now)
    }

    public mutating func demandChanged(_ demand: BitRate, now: MonotonicInstant) {
        self.demand = demand
    }

    public mutating func limitsChanged(_ limits: RateLimits, now: MonotonicInstant) {
        self.limits = limits
        reports.range = limits.range
        update(now: now)
    }

    public mutating func senderQueueChanged(_ size: DataSize, now: MonotonicInstant) {
        senderQueue = size
    }

    public mutating func frameDelayChanged(_ delay: Duration, now: MonotonicInstant) {
        frameDelay = max(0, delay.seconds)
    }

    public mutating func advance(now: MonotonicInstant) -> ControlDecision {
        update(now: now)
        defer { newProbe = nil }
        let isIdle = path.inFlight.isEmpty || !timeout.hasTransportFeedback
        return ControlDecision(
            targetBitRate: target, sustainedBitRate: sustained, pacingRate: pacingRate,
            pacingBurst: marks.isScalable ? .zero : nil, congestionWindow: congestionWindow,
            newProbeClusters: newProbe.map { [$0] } ?? [], frameTimeout: frameTimeout,
            videoPause: videoPause, nextWakeUp: now + (isIdle ? Self.idleInterval : Self.interval))
    }

    /// The expected queue; nil beside competing flows, to which the queue then belongs as well.
    public var predictedQueue: Duration? {
        timeout.hasTransportFeedback && competition.rate == nil ? .seconds(clamping: queueDelay) : nil
    }

    public var snapshot: ControllerSnapshot {
        var state = ControllerSnapshot.NetworkState.normal
        if queueDelay > parameters.holdDelay.seconds { state = .overusing } else if isDraining { state = .underusing }
        return ControllerSnapshot(
            targetBitRate: target,
            linkCapacity: timeout.hasTransportFeedback ? BitRate(bytesPerSecond: capacity) : nil,
            networkState: state, limit: limit, delayTrend: queueDelay * 1e3,
            delayThreshold: parameters.holdDelay.milliseconds,
            fractionLost: timeout.hasTransportFeedback ? losses.fractionLost : reports.fractionLost,
            roundTripTime: path.roundTripTime ?? reportedRoundTripTime, probeCount: probeCount)
    }

    // MARK: Feedback

    /// Starts the path's model when transport-wide feedback comes for the first time, at the state that receiver
    /// reports left.
    private mutating func beginFeedback() {
        timeout.hasTransportFeedback = true
        path.start(at: target.bytesPerSecond)
    }

    private mutating func probeStart() {
        let rate = min(target * parameters.startProbe, limits.maximum)
        guard rate > target else { return }
        probeCount += 1
        newProbe = ProbeCluster(id: probeCount, rate: rate)
    }

    /// Fills `arrivals` with the packets that arrived, by arrival.
    private mutating func takeArrivals(of report: TransportFeedbackReport) {
        arrivals.removeAll(keepingCapacity: true)
        for result in report.results {
            guard let time = result.receiveTime else { continue }
            arrivals.append(Arrival(result: result, time: time))
        }
        arrivals.sort {
            ($0.time, $0.result.sent.transportSequence) < ($1.time, $1.result.sent.transportSequence)
        }
    }

    private mutating func countLosses(_ report: TransportFeedbackReport) {
        for result in report.results {
            if result.receiveTime == nil {
                losses.lost(result.sent)
                competition.lost(now: report.feedbackTime)
            } else if result.wasReportedMissing, let time = result.receiveTime {
                losses.found(result.sent, isRepair: path.isRepair(result.sent, at: time.seconds))
            }
        }
    }
}
