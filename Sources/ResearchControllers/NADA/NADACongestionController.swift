public import CongestionControl
public import MediaCore

/// Network-Assisted Dynamic Adaptation (NADA, RFC 8698), completely at the sender: the receiver reports each packet
/// (RFC 8888, or transport-wide feedback), and the sender does the receiver's computations of section 5.1.
///
/// While there is no loss and no queue, the rate increases to a multiple of the receiving rate (accelerated ramp-up,
/// equations 3 and 4). Otherwise a proportional-integral law moves the congestion signal towards an equilibrium, which
/// is higher at a lower rate (gradual update, equations 5 to 7). There is no window, no probing, and no rule for
/// missing feedback.
public struct NADACongestionController: CongestionController {
    private let parameters: NADAParameters
    private var limits: RateLimits
    private var window: ObservationWindow
    private var signal: CongestionSignal
    /// The reference rate (r_ref), in bit/s.
    private var reference: Double
    private var lastUpdate: MonotonicInstant?
    private var receivingRate: BitRate?
    private var roundTripTime: Duration?
    private var lostCount = 0
    private var senderQueue = DataSize.zero
    private var remoteEstimate: BitRate?
    private var encoderRate: BitRate
    private var sendingRate: BitRate
    private var isShapingDue = false
    private var isRampingUp = false
    private var limit = ControllerSnapshot.Limit.start

    /// Creates a controller that starts at `limits.start`.
    public init(limits: RateLimits, parameters: NADAParameters = NADAParameters()) {
        self.parameters = parameters
        self.limits = limits
        window = ObservationWindow(length: parameters.observationWindow, filterLength: parameters.filterLength)
        signal = CongestionSignal(parameters: parameters)
        reference = Double(limits.start.bitsPerSecond)
        encoderRate = limits.start
        sendingRate = limits.start
    }

    public mutating func packetSent(_ packet: SentPacket, now: MonotonicInstant) {
        lastUpdate = lastUpdate ?? now
    }

    public mutating func feedbackReceived(_ report: TransportFeedbackReport, now: MonotonicInstant) {
        for result in report.results { window.add(result, reportedAt: now) }
        let elapsed = now - (lastUpdate ?? now)
        // Reports that arrive faster than requested are combined.
        guard elapsed >= parameters.feedbackInterval / 2 else { return }
        lastUpdate = now
        updateSignal()
        if isFree {
            isRampingUp = true
            rampUp()
        } else {
            isRampingUp = false
            adjust(after: elapsed)
        }
        let range = limits.range
        reference = min(max(reference, Double(range.lowerBound.bitsPerSecond)), Double(range.upperBound.bitsPerSecond))
        isShapingDue = true
    }

    private mutating func updateSignal() {
        receivingRate = window.receivingRate ?? receivingRate
        roundTripTime = window.roundTripTime ?? roundTripTime
        let losses = window.losses
        lostCount = losses?.count ?? lostCount
        signal.add(lossRatio: losses?.ratio, markingRatio: window.markingRatio)
        signal.update(queueingDelay: window.queueingDelay, lossIntervals: window.lossIntervals)
    }

    /// True for the accelerated ramp-up: no loss and no queue within the observation window.
    private var isFree: Bool { lostCount == 0 && !window.hasQueue(above: parameters.queueBuildUp) }

    /// Increases the rate by equations (3) and (4).
    private mutating func rampUp() {
        guard let receivingRate else { return }
        let roundTrip = roundTripTime ?? .zero
        let gain = min(
            parameters.maximumRampUp,
            parameters.rampUpDelay.seconds
                / (roundTrip + parameters.feedbackInterval + parameters.filterDelay).seconds)
        reference = max(reference, (1 + gain) * Double(receivingRate.bitsPerSecond))
        limit = .delay
    }

    /// Adjusts the rate by equations (5), (6) and (7). A pause of the source or of the feedback counts as at most TAU,
    /// the time that the gains were chosen for, so that the rate does not jump after it.
    private mutating func adjust(after elapsed: Duration) {
        let elapsed = min(elapsed, parameters.maximumRoundTrip)
        let tau = parameters.maximumRoundTrip.milliseconds
        let offset = signal.value - equilibrium
        let change = signal.value - signal.previous
        let factor =
            parameters.gain * (elapsed.milliseconds / tau) * (offset / tau)
            + parameters.gain * parameters.changeWeight * (change / tau)
        reference -= factor * reference
        limit = lostCount > 0 ? .loss : .delay
    }

    /// The signal at which the rate would stay, in ms.
    private var equilibrium: Double {
        parameters.priority * parameters.referenceCongestion.milliseconds
            * Double(limits.maximum.bitsPerSecond) / max(reference, 1)
    }

    /// Applies the shaping buffer before the network (section 5.2.2). While packets wait in it, the encoder produces
    /// less and the sender sends more, each by at most a twentieth (equations 11 to 14).
    private mutating func shape() {
        isShapingDue = false
        let waiting = senderQueue.bits * parameters.frameRate
        let largest = reference * parameters.maximumShaping
        let less = min(largest, parameters.encoderShaping * waiting)
        let more = min(largest, parameters.sendingShaping * waiting)
        encoderRate = max(limits.minimum, BitRate(bitsPerSecond: reference - less))
        sendingRate = min(limits.maximum, BitRate(bitsPerSecond: reference + more))
    }

    public mutating func remoteEstimateReceived(_ estimate: BitRate, now: MonotonicInstant) {
        remoteEstimate = estimate
    }

    public mutating func receiverReportReceived(
        fractionLost: Double, roundTripTime: Duration?, now: MonotonicInstant
    ) {
        self.roundTripTime = self.roundTripTime ?? roundTripTime
    }

    public mutating func demandChanged(_ demand: BitRate, now: MonotonicInstant) {}

    public mutating func limitsChanged(_ limits: RateLimits, now: MonotonicInstant) {
        self.limits = limits
        reference = Double(BitRate(bitsPerSecond: reference).clamped(to: limits.range).bitsPerSecond)
        isShapingDue = true
    }

    public mutating func senderQueueChanged(_ size: DataSize, now: MonotonicInstant) {
        senderQueue = size
    }

    public mutating func advance(now: MonotonicInstant) -> ControlDecision {
        if isShapingDue { shape() }
        return ControlDecision(
            targetBitRate: target, pacingRate: pacingRate, nextWakeUp: .distantFuture)
    }

    private var target: BitRate {
        guard let remoteEstimate else { return encoderRate }
        return min(encoderRate, remoteEstimate).clamped(to: limits.range)
    }

    private var pacingRate: BitRate { max(sendingRate, target) }

    public var snapshot: ControllerSnapshot {
        ControllerSnapshot(
            targetBitRate: target, acknowledgedBitRate: receivingRate,
            networkState: isRampingUp || signal.value <= equilibrium ? .normal : .overusing, limit: limit,
            delayTrend: signal.value, delayThreshold: equilibrium, fractionLost: signal.lossRatio,
            roundTripTime: roundTripTime)
    }
}
