public import MediaCore

/// Google congestion control as in libwebrtc in 2026 (`GoogCcNetworkController`; draft-ietf-rmcat-gcc-02 with later
/// changes). `docs/controllers.md` describes its mechanisms.
///
/// With transport-wide feedback the trend of one-way delay sets the rate, losses bound it, and probes find free
/// capacity at the start and in the application-limited region. A receiver's estimate (REMB) is an upper bound. With
/// receiver reports only, losses alone move the rate.
public struct GoogleCongestionController: CongestionController {
    /// The pacing rate over the target: frames leave faster than the next comes.
    static let pacingFactor = 2.5
    /// The time at the pacing rate that may leave at once (`PacingController`): a frame, as long as the target is kept.
    static let pacingBurst = Duration.milliseconds(40)
    /// A probe's result lowers the rate at most to this part of the acknowledged rate.
    static let probeDropFactor = 0.85
    /// The interval of updates without feedback (`GoogCcNetworkControllerFactory`).
    static let processInterval = Duration.milliseconds(25)

    private var acknowledged = RobustThroughputEstimator()
    private var delay: DelayBasedEstimator
    private var bounds: SendRateBounds
    private var limitedRegion = ALRDetector()
    private var probeRate = ProbeRateEstimator()
    private var probes: ProbeController
    private var window = CongestionWindowPushback()
    /// The timeout for paths with receiver reports only.
    private var timeout = FeedbackTimeout()
    private var hasReceiverReports = false
    private var roundTripTime: Duration?
    private var lastProcess: MonotonicInstant
    private var lastTarget: Target?
    private var received: [(packet: SentPacket, receiveTime: MonotonicInstant)] = []

    /// The values whose change is announced.
    private struct Target: Hashable {
        var rate: BitRate
        var lossState: LossBasedEstimator.State
        var fractionLost: Double
        var roundTripTime: Duration?
    }

    /// Creates a controller that starts at `limits.start`.
    public init(limits: RateLimits, now: MonotonicInstant) {
        delay = DelayBasedEstimator(start: limits.start, minimum: limits.minimum)
        bounds = SendRateBounds(limits: limits)
        probes = ProbeController(limits: limits, now: now)
        limitedRegion.setEstimate(limits.start)
        lastProcess = now
    }

    // MARK: Input

    public mutating func packetSent(_ packet: SentPacket, now: MonotonicInstant) {
        limitedRegion.packetSent(size: packet.size, now: now)
        if timeout.hasTransportFeedback { bounds.backoff.packetSent(now: now) } else { timeout.packetSent(now: now) }
        window.packetSent(size: packet.size)
        window.update()
        probes.start(now: now)
    }

    public mutating func feedbackReceived(_ report: TransportFeedbackReport, now: MonotonicInstant) {
        guard !report.results.isEmpty else { return }
        timeout.hasTransportFeedback = true
        takeReceived(of: report)
        updateRoundTrips(report, now: now)
        if !hasReceiverReports { bounds.addFeedback(report.results, now: now) }
        probes.setLimitedRegion(start: limitedRegion.start, now: now)

        var probe: BitRate?
        for (packet, receiveTime) in received {
            acknowledged.add(size: packet.size, sendTime: packet.sendTime, receiveTime: receiveTime)
            if packet.probeClusterID != nil, let rate = probeRate.add(packet, receiveTime: receiveTime) {
                probe = rate
            }
        }
        acknowledged.update()
        bounds.setAcknowledged(acknowledged.rate)
        if let rate = acknowledged.rate, let result = probe {
            // A result far below the rate of arrivals is wrong; below the current rate it must not raise it either.
            probe = max(result, min(delay.lastRate ?? .zero, rate * Self.probeDropFactor))
        }
        let outcome = delay.update(received: received, acknowledged: acknowledged.rate, probe: probe, now: now)
        if let rate = outcome.rate {
            if outcome.isProbe { bounds.setProbeResult(rate) }
            bounds.setDelayBound(rate, now: now)
        }
        bounds.updateLosses(report.results, isApplicationLimited: limitedRegion.start != nil, now: now)
        if outcome.rate != nil {
            window.update()
            targetChanged(now: now)
        }
        if outcome.hasRecovered { probes.recovered(now: now) }
        if !received.isEmpty { window.updateWindow(target: bounds.target) }
        received.removeAll(keepingCapacity: true)
    }

    public mutating func remoteEstimateReceived(_ estimate: BitRate, now: MonotonicInstant) {
        bounds.setRemoteEstimate(estimate)
        if !timeout.hasTransportFeedback { hear(roundTripTime: nil, now: now) }
        targetChanged(now: now)
    }

    public mutating func receiverReportReceived(
        fractionLost: Double, roundTripTime: Duration?, now: MonotonicInstant
    ) {
        hasReceiverReports = true
        if let roundTripTime, roundTripTime > .zero {
            self.roundTripTime = roundTripTime
            delay.roundTripTime = roundTripTime
            bounds.roundTripTime = roundTripTime
        }
        if !timeout.hasTransportFeedback { hear(roundTripTime: roundTripTime, now: now) }
        bounds.addLossReport(fractionLost, now: now)
        targetChanged(now: now)
    }

    public mutating func demandChanged(_ demand: BitRate, now: MonotonicInstant) {
        probes.setDemand(demand, now: now)
    }

    public mutating func limitsChanged(_ limits: RateLimits, now: MonotonicInstant) {
        bounds.range = limits.range
        delay.minimum = limits.minimum
        probes.setRange(limits.range, now: now)
        targetChanged(now: now)
    }

    // MARK: Output

    public mutating func advance(now: MonotonicInstant) -> ControlDecision {
        if !timeout.hasTransportFeedback, let factor = timeout.step(now: now) {
            bounds.reduce(by: factor, now: now)
            targetChanged(now: now)
        }
        if now - lastProcess >= Self.processInterval { process(now: now) }
        let clusters = probes.takeClusters()
        for cluster in clusters { probeRate.expect(cluster) }
        return ControlDecision(
            targetBitRate: target, pacingRate: pacingRate, pacingBurst: Self.pacingBurst, paddingRate: paddingRate,
            newProbeClusters: clusters, nextWakeUp: lastProcess + Self.processInterval)
    }

    public var snapshot: ControllerSnapshot {
        ControllerSnapshot(
            targetBitRate: target, acknowledgedBitRate: acknowledged.rate,
            linkCapacity: delay.rateControl.capacity.rate,
            networkState: delay.detector.state, limit: bounds.limit, delayTrend: delay.detector.trend,
            delayThreshold: delay.detector.threshold, fractionLost: bounds.fractionLost,
            roundTripTime: roundTripTime, probeCount: probes.probeCount)
    }

    /// The encoder's rate. Under pushback it falls by the part of the frames that libwebrtc would leave out
    /// (`DropFrame`), half of them at most.
    private var target: BitRate {
        let interval = window.frameDropInterval(target: bounds.target, minimum: bounds.range.lowerBound)
        return interval.map { (bounds.target * (1 - 1 / Double($0))).clamped(to: bounds.range) } ?? bounds.target
    }

    /// The pacing rate before pushback, so that waiting packets leave.
    private var pacingRate: BitRate { bounds.target * Self.pacingFactor }

    /// While a rate that losses had brought down grows, it must be sent to be tried.
    private var paddingRate: BitRate { bounds.lossBased.state == .increasing ? target : .zero }

    // MARK: Steps

    /// The rule without feedback.
    private mutating func process(now: MonotonicInstant) {
        lastProcess = now
        bounds.update(now: now)
        probes.setLimitedRegion(start: limitedRegion.start, now: now)
        probes.advance(now: now)
        window.updateWindow(target: bounds.target)
        window.update()
        targetChanged(now: now)
    }

    /// Reports a changed target to the detector of the application-limited region and to probing.
    private mutating func targetChanged(now: MonotonicInstant) {
        let changed = Target(
            rate: bounds.target, lossState: bounds.lossBased.state, fractionLost: bounds.fractionLost,
            roundTripTime: roundTripTime)
        guard changed != lastTarget else { return }
        lastTarget = changed
        limitedRegion.setEstimate(changed.rate)
        probes.setEstimate(changed.rate, isProbingAllowed: isProbingAllowed, now: now)
    }

    /// True if probes can measure anything: not on a full path, and not without feedback on arrivals.
    private var isProbingAllowed: Bool {
        timeout.hasTransportFeedback && delay.detector.state == .normal && !bounds.backoff.isAboveLimit
            && bounds.lossBased.state == .delayBased
    }

    /// Counts a report as an answer to all sent packets if there is no other feedback.
    private mutating func hear(roundTripTime: Duration?, now: MonotonicInstant) {
        _ = timeout.heard(ofPacketSent: now, roundTripTime: roundTripTime, now: now)
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

    private mutating func updateRoundTrips(_ report: TransportFeedbackReport, now: MonotonicInstant) {
        guard let newest = received.last else {
            window.heard(longest: nil, outstanding: report.dataInFlight)
            return
        }
        // Without the time that feedback waited for younger packets, and with it.
        var shortest = Duration.nanoseconds(Int64.max)
        var longest = Duration.zero
        for (packet, receiveTime) in received {
            let time = report.feedbackTime - packet.sendTime
            longest = max(longest, time)
            shortest = min(shortest, time - (newest.receiveTime - receiveTime))
        }
        window.heard(longest: longest, outstanding: report.dataInFlight)
        // A receiver's clock that jumps makes nonsense of the difference.
        bounds.backoff.heard(roundTripTime: max(shortest, .zero), now: now)
        guard !hasReceiverReports else { return }
        if let mean = window.meanRoundTrip { delay.roundTripTime = mean }
        guard shortest > .zero else { return }
        roundTripTime = shortest
        bounds.roundTripTime = shortest
    }
}
