public import MediaCore

/// Google congestion control as libwebrtc has it (draft-ietf-rmcat-gcc-02 with what came after it).
///
/// With transport-wide feedback the trend of one-way delay sets the rate, losses bound it, and probes find free
/// capacity quickly. A receiver's estimate (REMB) is an upper bound. Where only receiver reports come, losses alone move
/// the rate. While nothing is heard at all although packets are sent, the rate falls.
///
/// Beyond libwebrtc it probes at twice the target every 5 to 10 s while there is more to send, and at the rate of
/// before when a large drop is over; there an additive increase would take a minute to find capacity that came back.
public struct GoogleCongestionController: CongestionController {
    /// The pacing rate over the target: frames leave faster than the next comes.
    static let pacingFactor = 2.5
    /// So long after a probe raised the rate another may lower it.
    static let probeCorrectionTime = Duration.seconds(1)
    /// How often the target moves while packets are sent but feedback is rare.
    static let updateInterval = Duration.milliseconds(100)

    private var acknowledged = AcknowledgedRateEstimator()
    private var delay: DelayBasedEstimator
    private var bounds: SendRateBounds
    private var probeRate = ProbeRateEstimator()
    private var probes: ProbeController
    private var timeout = FeedbackTimeout()
    private var drain = QueueDrain()
    private var roundTripTime: Duration?
    private var lastUpdate: MonotonicInstant
    private var hasDelayEstimate = false
    private var lastProbeRaise = MonotonicInstant(nanoseconds: .min)
    private var rateBeforeProbes = BitRate.zero
    private var received: [(packet: SentPacket, receiveTime: MonotonicInstant)] = []

    /// Creates a controller that starts at `limits.start`.
    public init(limits: RateLimits, now: MonotonicInstant) {
        delay = DelayBasedEstimator(start: limits.start, minimum: limits.minimum)
        bounds = SendRateBounds(limits: limits)
        probes = ProbeController(limits: limits)
        lastUpdate = now
    }

    public mutating func packetSent(_ packet: SentPacket, now: MonotonicInstant) {
        timeout.packetSent(now: now)
        probes.start(now: now)
    }

    public mutating func feedbackReceived(_ report: TransportFeedbackReport, now: MonotonicInstant) {
        guard !report.results.isEmpty else { return }
        timeout.hasTransportFeedback = true
        takeReceived(of: report)
        updateRoundTripTime(report)
        let endsSilence = timeout.heard(
            ofPacketSent: report.results[report.results.count - 1].sent.sendTime, roundTripTime: roundTripTime,
            now: now)
        bounds.addFeedback(report.results, now: now)

        // What a probe changed arrives a round trip later: what arrives is followed closely then.
        if now - lastProbeRaise < Self.probeCorrectionTime { acknowledged.expectFastChange() }
        var probe: BitRate?
        for (packet, receiveTime) in received {
            acknowledged.add(size: packet.size, receiveTime: receiveTime)
            if packet.probeClusterID != nil, let rate = probeRate.add(packet, receiveTime: receiveTime) {
                probe = rate
            }
        }
        if let rate = probe { probe = usableResult(rate, now: now) }
        let stateBefore = delay.detector.state
        let outcome = delay.update(
            received: received, acknowledged: acknowledged.rate, probe: probe, roundTripTime: roundTripTime, now: now)
        if let rate = outcome.rate {
            hasDelayEstimate = true
            if outcome.isProbe {
                bounds.setProbeResult(rate)
            }
            bounds.setDelayBound(rate, now: now)
        }
        bounds.update(now: now)
        updateDrain(now: now)
        if delay.detector.state == .overusing, stateBefore != .overusing, drain.queue > QueueDrain.minimumQueue {
            acknowledged.expectFastChange()
        }
        lastUpdate = now
        probes.setEstimate(bounds.target, now: now)
        if outcome.hasRecovered { probes.recovered(now: now) }
        if endsSilence { probes.feedbackResumed() }
        received.removeAll(keepingCapacity: true)
    }

    public mutating func remoteEstimateReceived(_ estimate: BitRate, now: MonotonicInstant) {
        bounds.setRemoteEstimate(estimate)
        if !timeout.hasTransportFeedback { _ = timeout.heard(ofPacketSent: now, roundTripTime: nil, now: now) }
        probes.setEstimate(bounds.target, now: now)
    }

    public mutating func receiverReportReceived(
        fractionLost: Double, roundTripTime: Duration?, now: MonotonicInstant
    ) {
        // Transport-wide feedback says the same sooner and with more detail.
        guard !timeout.hasTransportFeedback else { return }
        _ = timeout.heard(ofPacketSent: now, roundTripTime: roundTripTime, now: now)
        if let roundTripTime, roundTripTime >= .zero {
            self.roundTripTime = roundTripTime
            bounds.roundTripTime = roundTripTime
        }
        bounds.addLossReport(fractionLost, now: now)
        lastUpdate = now
        probes.setEstimate(bounds.target, now: now)
    }

    public mutating func demandChanged(_ demand: BitRate, now: MonotonicInstant) {
        probes.setDemand(demand, now: now)
    }

    public mutating func limitsChanged(_ limits: RateLimits, now: MonotonicInstant) {
        bounds.range = limits.range
        delay.minimum = limits.minimum
        probes.range = limits.range
        probes.setEstimate(bounds.target, now: now)
    }

    public mutating func advance(now: MonotonicInstant) -> ControlDecision {
        if let factor = timeout.step(now: now) {
            bounds.reduce(by: factor, now: now)
            delay.setEstimate(min(delay.rateControl.rate, bounds.target), now: now)
            probes.setEstimate(bounds.target, now: now)
        } else if !timeout.isSilent, now - lastUpdate >= Self.updateInterval {
            bounds.update(now: now)
            lastUpdate = now
            probes.setEstimate(bounds.target, now: now)
        }
        probes.advance(canProbe: canProbe, now: now)
        let clusters = probes.takeClusters()
        for cluster in clusters { probeRate.expect(cluster) }
        return ControlDecision(
            targetBitRate: target, pacingRate: pacingRate, newProbeClusters: clusters,
            nextWakeUp: nextWakeUp(now: now))
    }

    public var snapshot: ControllerSnapshot {
        ControllerSnapshot(
            targetBitRate: target, pacingRate: pacingRate, acknowledgedBitRate: acknowledged.rate,
            delayBasedBitRate: hasDelayEstimate ? delay.rateControl.rate : nil,
            lossBasedBitRate: bounds.lossBasedRate, remoteEstimate: bounds.remoteEstimate,
            linkCapacity: delay.rateControl.capacity.rate, networkState: delay.detector.state, limit: bounds.limit,
            delayTrend: delay.detector.trend, delayThreshold: delay.detector.threshold,
            fractionLost: bounds.fractionLost, roundTripTime: roundTripTime, probeCount: probes.probeCount)
    }

    private var target: BitRate {
        guard let bound = drain.bound else { return bounds.target }
        return min(bounds.target, bound).clamped(to: bounds.range)
    }

    private var pacingRate: BitRate { target * Self.pacingFactor }

    /// Probes measure nothing useful on a path that is full, and are of no use where nobody reports arrivals.
    private var canProbe: Bool {
        timeout.hasTransportFeedback && !timeout.isSilent && delay.detector.state == .normal
            && drain.bound == nil && bounds.fractionLost <= SendRateBounds.highLoss
    }

    private func nextWakeUp(now: MonotonicInstant) -> MonotonicInstant {
        var next = lastUpdate + Self.updateInterval
        if let step = timeout.nextStep { next = min(next, step) }
        if let event = probes.nextEvent(now: now) { next = min(next, event) }
        // What is overdue waits for the path or for packets; it is looked at again soon, not at once.
        return next > now ? next : now + Self.updateInterval
    }

    /// Fills `received` with the packets that arrived, by arrival.
    private mutating func takeReceived(of report: TransportFeedbackReport) {
        received.removeAll(keepingCapacity: true)
        var isSorted = true
        for result in report.results {
            guard let receiveTime = result.receiveTime else { continue }
            if let last = received.last, receiveTime < last.receiveTime { isSorted = false }
            received.append((result.sent, receiveTime))
        }
        guard !isSorted else { return }
        received.sort {
            ($0.receiveTime, $0.packet.transportSequence) < ($1.receiveTime, $1.packet.transportSequence)
        }
    }

    /// What to make of a probe's result; nil for nothing.
    ///
    /// Bursts of a few packets measure a bursty path badly. A result above the rate is taken; one below it only corrects
    /// what a probe just before made of it, and not below what was there before. Where the path carries less than the
    /// rate, delay says so.
    private mutating func usableResult(_ result: BitRate, now: MonotonicInstant) -> BitRate? {
        let rate = bounds.target
        if result > rate {
            if now - lastProbeRaise > Self.probeCorrectionTime { rateBeforeProbes = rate }
            lastProbeRaise = now
            return result
        }
        guard now - lastProbeRaise <= Self.probeCorrectionTime else { return nil }
        return max(result, min(rate, rateBeforeProbes))
    }

    private mutating func updateDrain(now: MonotonicInstant) {
        guard var shortest = received.first.map({ $0.receiveTime - $0.packet.sendTime }) else { return }
        for (packet, receiveTime) in received.dropFirst() { shortest = min(shortest, receiveTime - packet.sendTime) }
        drain.update(
            oneWayDelay: shortest, acknowledged: acknowledged.rate, networkState: delay.detector.state, now: now)
        if drain.bound != nil, let rate = acknowledged.rate {
            // The queue is full or drains: what arrives is what the path carries.
            let sustainable = rate * AIMDRateControl.backoff
            if sustainable < delay.rateControl.rate {
                delay.setEstimate(sustainable, now: now)
                bounds.setDelayBound(delay.rateControl.rate, now: now)
            }
        }
    }

    private mutating func updateRoundTripTime(_ report: TransportFeedbackReport) {
        guard let newest = received.last else { return }
        var shortest = Duration.nanoseconds(Int64.max)
        for (packet, receiveTime) in received {
            shortest = min(
                shortest, (report.feedbackTime - packet.sendTime) - (newest.receiveTime - receiveTime))
        }
        guard shortest >= .zero else { return }
        roundTripTime = shortest
        bounds.roundTripTime = shortest
    }
}
