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
    /// A probe's result counts at least as this part of what arrives.
    static let probeDropFraction = 0.85
    /// How often the target moves while packets are sent but feedback is rare.
    static let updateInterval = Duration.milliseconds(100)

    private var acknowledged = AcknowledgedRateEstimator()
    private var delay: DelayBasedEstimator
    private var bounds: SendRateBounds
    private var probeRate = ProbeRateEstimator()
    private var probes: ProbeController
    private var timeout = FeedbackTimeout()
    private var roundTripTime: Duration?
    private var lastUpdate: MonotonicInstant
    private var hasDelayEstimate = false
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
        let endsSilence = timeout.heard()
        takeReceived(of: report)
        updateRoundTripTime(report)
        bounds.addFeedback(report.results, now: now)

        var probe: BitRate?
        for (packet, receiveTime) in received {
            acknowledged.add(size: packet.size, receiveTime: receiveTime)
            if packet.probeClusterID != nil, let rate = probeRate.add(packet, receiveTime: receiveTime) {
                probe = rate
            }
        }
        if let rate = probe, let acknowledged = acknowledged.rate {
            // A result far below what arrives is no good measurement; a little below lets queues drain. A result
            // below the estimate must not raise it.
            probe = max(rate, min(delay.rateControl.rate, acknowledged * Self.probeDropFraction))
        }
        let outcome = delay.update(
            received: received, acknowledged: acknowledged.rate, probe: probe, roundTripTime: roundTripTime, now: now)
        if let rate = outcome.rate {
            hasDelayEstimate = true
            if outcome.isProbe { bounds.setProbeResult(rate) }
            bounds.setDelayBound(rate, now: now)
        }
        bounds.update(now: now)
        lastUpdate = now
        probes.setEstimate(bounds.target, now: now)
        if outcome.hasRecovered { probes.recovered(now: now) }
        if endsSilence { probes.feedbackResumed(now: now) }
        received.removeAll(keepingCapacity: true)
    }

    public mutating func remoteEstimateReceived(_ estimate: BitRate, now: MonotonicInstant) {
        bounds.setRemoteEstimate(estimate)
        if !timeout.hasTransportFeedback { _ = timeout.heard() }
        probes.setEstimate(bounds.target, now: now)
    }

    public mutating func receiverReportReceived(
        fractionLost: Double, roundTripTime: Duration?, now: MonotonicInstant
    ) {
        // Transport-wide feedback says the same sooner and with more detail.
        guard !timeout.hasTransportFeedback else { return }
        _ = timeout.heard()
        if let roundTripTime, roundTripTime >= .zero {
            self.roundTripTime = roundTripTime
            timeout.roundTripTime = roundTripTime
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
            targetBitRate: bounds.target, pacingRate: pacingRate, newProbeClusters: clusters,
            nextWakeUp: nextWakeUp(now: now))
    }

    public var snapshot: ControllerSnapshot {
        ControllerSnapshot(
            targetBitRate: bounds.target, pacingRate: pacingRate, acknowledgedBitRate: acknowledged.rate,
            delayBasedBitRate: hasDelayEstimate ? delay.rateControl.rate : nil,
            lossBasedBitRate: bounds.lossBasedRate, remoteEstimate: bounds.remoteEstimate,
            linkCapacity: delay.rateControl.capacity.rate, networkState: delay.detector.state, limit: bounds.limit,
            delayTrend: delay.detector.trend, delayThreshold: delay.detector.threshold,
            fractionLost: bounds.fractionLost, roundTripTime: roundTripTime, probeCount: probes.probeCount)
    }

    private var pacingRate: BitRate { bounds.target * Self.pacingFactor }

    /// Probes measure nothing useful on a path that is full, and are of no use where nobody reports arrivals.
    private var canProbe: Bool {
        timeout.hasTransportFeedback && !timeout.isSilent && delay.detector.state == .normal
            && bounds.fractionLost <= SendRateBounds.highLoss
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

    private mutating func updateRoundTripTime(_ report: TransportFeedbackReport) {
        guard let newest = received.last else { return }
        var shortest = Duration.nanoseconds(Int64.max)
        for (packet, receiveTime) in received {
            shortest = min(
                shortest, (report.feedbackTime - packet.sendTime) - (newest.receiveTime - receiveTime))
        }
        guard shortest >= .zero else { return }
        roundTripTime = shortest
        timeout.roundTripTime = shortest
        bounds.roundTripTime = shortest
    }
}
