public import MediaCore

/// Follows the capacity of the path from frame to frame.
///
/// Each frame leaves as a train of packets a little faster than the path is thought to carry, so that the spacing of
/// their arrivals measures it, used fully or not. From the capacity and from what is in flight follows how long a packet
/// sent now would queue, before any feedback says so. The target is the capacity less what drains that queue within
/// about a frame; a predicted queue that is long, be it only because feedback stays away, holds all paced packets.
/// `docs/rate-control.md` has the equations and what each constant is for.
public struct ConfrelayCongestionController: CongestionController {
    /// Time from one look at the clock to the next while packets are in flight: what does not arrive is news as well.
    static let interval = Duration.milliseconds(5)
    /// The same while nothing is in flight.
    static let idleInterval = Duration.milliseconds(100)
    /// However little the path carries, so much may be in flight: without packets there is no feedback.
    static let leastWindow = DataSize(bytes: 2400)
    /// So much more than the maximum the path may be thought to carry: a margin for its falls, not for growth unused.
    static let headroom = 1.5
    /// Delays up to this, in seconds, are no queue: growth goes on.
    static let emptyQueue = 0.002
    static let emptyQueueOnArrival = 0.01
    /// Growth without measurement needs sending at this part of the target at least.
    static let usedPart = 0.7
    /// After so long without feedback a packet may leave each while, to find whether the path is back.
    static let silence = 0.5
    /// Beside others that fill the queue, what is in flight may be what the rate carries in a round trip and this.
    static let competitionSlack = Duration.milliseconds(100)
    static let keepAliveInterval = 0.1

    private let parameters: ConfrelayParameters
    private var limits: RateLimits
    private var demand: BitRate
    private var path: PathModel
    private var losses = LossClassifier()
    private var competition = CompetingTraffic()
    private var usage = SendRateMeter()
    /// Moves the rate by receiver reports until transport-wide feedback comes.
    private var reports: SendRateBounds
    private var timeout = FeedbackTimeout()
    private var remoteEstimate: BitRate?
    private var senderQueue = DataSize.zero
    private var reportedRoundTripTime: Duration?

    private var target: BitRate
    private var limit = ControllerSnapshot.Limit.start
    /// What the path is thought to carry now, bytes per second.
    private var capacity: Double
    /// How long a packet sent now would queue, in seconds.
    private var queueDelay = 0.0
    private var lastUpdate: MonotonicInstant
    private var lastHeard: MonotonicInstant?
    private var lastKeepAlive: MonotonicInstant?
    private var isKeepingAlive = false
    private var arrivals: [(packet: SentPacket, arrival: MonotonicInstant)] = []

    /// Creates a controller that starts at `limits.start`.
    public init(
        limits: RateLimits, parameters: ConfrelayParameters = ConfrelayParameters(), now: MonotonicInstant
    ) {
        self.limits = limits
        self.parameters = parameters
        demand = limits.maximum
        target = limits.start
        capacity = max(limits.start.bytesPerSecond, CapacityEstimator.floor)
        path = PathModel(start: capacity, parameters: parameters)
        reports = SendRateBounds(limits: limits)
        lastUpdate = now
    }

    public mutating func packetSent(_ packet: SentPacket, now: MonotonicInstant) {
        timeout.packetSent(now: now)
        path.packetSent(packet)
        usage.add(packet.size, now: now)
        // One at a time.
        isKeepingAlive = false
    }

    public mutating func feedbackReceived(_ report: TransportFeedbackReport, now: MonotonicInstant) {
        guard let newest = report.results.map(\.sent.transportSequence).max() else { return }
        if !timeout.hasTransportFeedback {
            timeout.hasTransportFeedback = true
            path.start(at: target.bytesPerSecond)
        }
        lastHeard = now
        isKeepingAlive = false
        takeArrivals(of: report)
        path.feedbackReceived(
            newestSequence: newest, newestArrival: arrivals.last?.arrival.seconds, now: now)
        countLosses(report)
        for (packet, arrival) in arrivals {
            let wait = path.packetArrived(packet, at: arrival.seconds, now: now)
            losses.received(bytes: Double(packet.size.bytes), wait: wait)
        }
        losses.update(now: now)
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

    public mutating func advance(now: MonotonicInstant) -> ControlDecision {
        update(now: now)
        let isIdle = path.inFlight.isEmpty || !timeout.hasTransportFeedback
        return ControlDecision(
            targetBitRate: target, sustainedBitRate: sustained, pacingRate: pacingRate,
            congestionWindow: congestionWindow(now: now),
            frameTimeout: parameters.frameTimeout, feedbackInterval: parameters.feedbackInterval,
            nextWakeUp: now + (isIdle ? Self.idleInterval : Self.interval))
    }

    public var snapshot: ControllerSnapshot {
        var state = ControllerSnapshot.NetworkState.normal
        if queueDelay > parameters.holdDelay.seconds { state = .overusing } else if isDraining { state = .underusing }
        return ControllerSnapshot(
            targetBitRate: target, pacingRate: pacingRate, acknowledgedBitRate: nil,
            delayBasedBitRate: timeout.hasTransportFeedback ? BitRate(bytesPerSecond: delayBasedRate) : nil,
            lossBasedBitRate: timeout.hasTransportFeedback
                ? losses.bound.map { BitRate(bytesPerSecond: $0) } : reports.lossBasedRate,
            remoteEstimate: remoteEstimate,
            linkCapacity: timeout.hasTransportFeedback ? BitRate(bytesPerSecond: capacity) : nil,
            networkState: state, limit: limit, delayTrend: queueDelay * 1e3,
            delayThreshold: parameters.holdDelay.milliseconds,
            fractionLost: timeout.hasTransportFeedback ? losses.fractionLost : reports.fractionLost,
            roundTripTime: path.roundTripTime ?? reportedRoundTripTime)
    }

    /// Whether more is on its way than the path delivers within a frame.
    private var isDraining: Bool { queueDelay > parameters.drainTime.seconds }

    /// The target without what drains the queue before the next frame.
    private var sustained: BitRate? {
        guard timeout.hasTransportFeedback, limit == .delay || limit == .configuration else { return nil }
        let use = parameters.utilization - parameters.caution * path.predictionError.excess
        return max(BitRate(bytesPerSecond: capacity * use * losses.use).clamped(to: limits.range), target)
    }

    private var pacingRate: BitRate {
        max(BitRate(bytesPerSecond: capacity), target) * parameters.pacingFactor + parameters.additivePacingRate
    }

    /// What keeps the predicted queue within its bound.
    private mutating func congestionWindow(now: MonotonicInstant) -> DataSize? {
        guard timeout.hasTransportFeedback else { return nil }
        if let heard = lastHeard, let oldest = path.inFlight.oldest {
            let silence = (now - max(heard, oldest.sendTime)).seconds
            if silence > Self.silence, lastKeepAlive.map({ (now - $0).seconds >= Self.keepAliveInterval }) ?? true {
                lastKeepAlive = now
                isKeepingAlive = true
            }
        }
        let room = capacity * (parameters.holdDelay.seconds - queueDelay)
        var window = max(DataSize(bytes: path.inFlight.size + room), Self.leastWindow)
        // Beside others the queue's length is theirs: only its end is a bound, which losses tell.
        // And whatever fills the queue, the least rate goes through it.
        if let time = path.standingRoundTrip {
            let rate = max(competition.rate ?? .zero, limits.minimum)
            window = max(window, rate.dataSize(over: .nanoseconds(Int64(time * 1e9)) + Self.competitionSlack))
        }
        return isKeepingAlive ? max(window, DataSize(bytes: path.inFlight.size + 1)) : window
    }

    /// What the delays ask for, in bytes per second.
    private var delayBasedRate: Double {
        let use = parameters.utilization - parameters.caution * path.predictionError.excess
        let additive =
            parameters.additiveRate.bytesPerSecond * (capacity / BitRate.megabits(1).bytesPerSecond).squareRoot()
        return capacity * max(use * losses.use - queueDelay / parameters.drainTime.seconds, 0) + additive
    }

    private mutating func update(now: MonotonicInstant) {
        let time = min((now - lastUpdate).seconds, Self.idleInterval.seconds)
        lastUpdate = now
        guard timeout.hasTransportFeedback else {
            if let factor = timeout.step(now: now) { reports.reduce(by: factor, now: now) }
            if !timeout.isSilent { reports.update(now: now) }
            target = reports.target
            limit = reports.limit
            return
        }
        path.limitCapacity(to: max(limits.maximum, target).bytesPerSecond * Self.headroom)
        if queueDelay <= Self.emptyQueue, path.queueDelay <= Self.emptyQueueOnArrival + path.jitter.value,
            target < demand, usage.rate(now: now) >= target * Self.usedPart
        {
            path.grow(over: time)
        }
        guard let prediction = path.prediction(waiting: Double(senderQueue.bytes), now: now) else { return }
        capacity = prediction.rate
        queueDelay = prediction.queueDelay
        competition.update(isCompeting: path.competingDelay != nil, start: target, now: now)
        chooseTarget()
    }

    private mutating func chooseTarget() {
        var rate = max(delayBasedRate, competition.rate?.bytesPerSecond ?? 0)
        limit = .delay
        if let bound = losses.bound, bound < rate {
            rate = bound
            limit = .loss
        }
        var bounded = BitRate(bytesPerSecond: rate)
        if let remoteEstimate, remoteEstimate < bounded {
            bounded = remoteEstimate
            limit = .remoteEstimate
        }
        target = bounded.clamped(to: limits.range)
        if target != bounded { limit = .configuration }
        if isKeepingAlive { limit = .feedbackTimeout }
    }

    /// Fills `arrivals` with the packets that arrived, by arrival.
    private mutating func takeArrivals(of report: TransportFeedbackReport) {
        arrivals.removeAll(keepingCapacity: true)
        for result in report.results {
            guard let time = result.receiveTime else { continue }
            arrivals.append((result.sent, time))
        }
        arrivals.sort { ($0.arrival, $0.packet.transportSequence) < ($1.arrival, $1.packet.transportSequence) }
    }

    private mutating func countLosses(_ report: TransportFeedbackReport) {
        for result in report.results {
            if result.receiveTime == nil {
                losses.lostPacket()
                competition.lost(now: report.feedbackTime)
            } else if result.wasReportedMissing {
                losses.foundPacket()
            }
        }
    }
}

extension BitRate {
    /// Creates a rate from a floating-point count of bytes per second.
    init(bytesPerSecond: Double) {
        self.init(bitsPerSecond: bytesPerSecond * 8)
    }

    var bytesPerSecond: Double { Double(bitsPerSecond) / 8 }
}
