public import CongestionControl
public import MediaCore
internal import RTP

/// Self-Clocked Rate Adaptation for Multimedia (SCReAM, RFC 8298), in the authors' version 2
/// (draft-ietf-ccwg-rfc8298bis-screamv2, and their code of 2026).
///
/// A window limits the bytes in flight; feedback updates it. Losses, ECN marks and a queueing delay above half of its
/// target reduce it. Each acknowledged packet lets it grow, slowly near the last onset of congestion. The target is the
/// rate of one window per smoothed round trip. The controller accepts feedback at any interval and works best with a
/// report on each frame.
public struct ScreamCongestionController: CongestionController {
    /// The interval for updates of the sender's queue while packets are under way; `idleInterval` applies otherwise.
    static let queueInterval = Duration.milliseconds(5)
    static let idleInterval = Duration.milliseconds(50)
    /// The longest round trip, in seconds, for the target; `headerSize` is the assumed size of headers in bytes.
    static let longestRoundTrip = 0.2
    static let roundTripMargin = 0.001
    static let headerSize = 20.0
    /// The factor by which the target stays below the rate of the window (draft, "Media Rate Control").
    static let targetMargin = 1.1
    /// The part of the receiving rate below which the target is low.
    static let lowTarget = 0.8
    /// The time without a sent packet after which the bytes in flight are reset.
    static let timeout = Duration.milliseconds(500)
    static let minimumPacing = BitRate.kilobits(50)
    /// The interval between measurements of the base delay. A queue that never drains below an eighth of the target
    /// distorts the base delay: then, at most once a minute, the target is halved for some round trips, and the base
    /// delay is measured again.
    static let baseDelayResetInterval = Duration.seconds(60)
    static let baseDelayDrainRoundTrips = 5.0
    static let shortestDrain = 0.1

    private let parameters = ScreamParameters()
    private var limits: RateLimits
    private var window: ReferenceWindow
    private var flight: BytesInFlightHistory
    private var queue: SenderQueue
    private var packetSize: LargestPacket
    private var base = BaseDelayHistory()
    private var roundTrip: SmoothedRoundTrip
    private var delays: QueueDelayAverages
    /// The target of the queueing delay, in seconds.
    private let delayTarget: Double
    private var marks: MarkingAverage
    private var losses: ReorderingWindow
    private var acknowledgedRate: AcknowledgedBytes

    /// The bytes in flight; `givenUp` is the part of them that no longer counts.
    private var inFlight = 0.0
    private var givenUp = 0.0
    private var newlyAcknowledged = 0.0
    private var newlyMarked = 0.0
    /// The last queueing delay, in seconds.
    private var queueDelay = 0.0
    private var target: BitRate
    private var remoteEstimate: BitRate?
    private var isL4S = false
    private var hasL4SMarks = false
    private var hasBeenCongested = false
    private var isApplicationLimited = false
    private var isDraining = false
    private var drainStart: MonotonicInstant
    private var lastEvent: MonotonicInstant
    private var lastUpdate: MonotonicInstant
    private var lastSent: MonotonicInstant
    private var limit = ControllerSnapshot.Limit.start

    /// Creates a controller that starts at `limits.start`.
    public init(limits: RateLimits, now: MonotonicInstant) {
        self.limits = limits
        target = limits.start
        packetSize = LargestPacket(now: now)
        window = ReferenceWindow(
            size: max(
                Double(limits.start.bitsPerSecond) / 8 * SmoothedRoundTrip.initial,
                ReferenceWindow.minimumPackets * LargestPacket.initial),
            parameters: parameters, now: now)
        flight = BytesInFlightHistory(now: now)
        queue = SenderQueue(maximumFramePacing: parameters.maximumFramePacing, now: now)
        roundTrip = SmoothedRoundTrip(now: now)
        delays = QueueDelayAverages(now: now)
        delayTarget = parameters.queueDelayTarget.seconds
        marks = MarkingAverage(gainUp: parameters.markGainUp, gainDown: parameters.markGainDown, now: now)
        losses = ReorderingWindow(length: parameters.reorderingWindow, rateThreshold: parameters.lossRateThreshold)
        acknowledgedRate = AcknowledgedBytes(now: now)
        drainStart = now
        lastEvent = now
        lastUpdate = now
        lastSent = now
    }

    public mutating func packetSent(_ packet: SentPacket, now: MonotonicInstant) {
        inFlight += Double(packet.size.bytes)
        packetSize.add(packet.size, now: now)
        queue.packetSent(packet.size)
        lastSent = now
    }

    // MARK: Feedback

    public mutating func feedbackReceived(_ report: TransportFeedbackReport, now: MonotonicInstant) {
        let before = inFlight
        flight.add(inFlight - givenUp)
        let windowPackets = window.size / packetSize.value
        var newest: PacketResult?
        var isMarked = false
        for result in report.results {
            losses.add(result, windowPackets: windowPackets)
            guard let receiveTime = result.receiveTime else { continue }
            let delay = (receiveTime - result.sent.sendTime).seconds
            base.add(delay, now: now)
            queueDelay = max(delay - base.value, 0)
            recordMark(result, isMarked: &isMarked)
            newest = result
        }
        inFlight = Double(report.dataInFlight.bytes)
        let acknowledged = max(before - inFlight, 0)
        let forgiven = min(givenUp, acknowledged)
        givenUp -= forgiven
        newlyAcknowledged += acknowledged - forgiven
        acknowledgedRate.add(acknowledged, now: now)
        guard let newest else { return }
        roundTrip.add(
            (now - newest.sent.sendTime).seconds, isApplicationLimited: isApplicationLimited, now: now)
        react(to: events(isMarked: isMarked, now: now), now: now)
    }

    private mutating func recordMark(_ result: PacketResult, isMarked: inout Bool) {
        let isCongested = result.ecn == .congestionExperienced
        if result.ecn == .capable1 { isL4S = true }
        marks.packetArrived(isMarked: isCongested)
        guard isCongested else { return }
        isMarked = true
        newlyMarked += Double(result.sent.size.bytes)
    }

    /// The events that reduce the window.
    private struct Events {
        var isLoss = false
        var isMark = false
        var isDelay = false

        var isAny: Bool { isLoss || isMark || isDelay }
    }

    private mutating func events(isMarked: Bool, now: MonotonicInstant) -> Events {
        var events = Events()
        let interval = min(parameters.reductionInterval.seconds, roundTrip.value)
        let isLost = losses.takeLost(windowPackets: window.size / packetSize.value) > 0
        let elapsed = (now - lastEvent).seconds
        // Rare losses with a short queue come from the link, not from congestion.
        events.isLoss =
            isLost && elapsed > roundTrip.value
            && (losses.lossRate > parameters.lossRateThreshold || delays.average > delayTarget / 4)
        marks.update(roundTrip: roundTrip.value, now: now)
        delays.update(
            delay: queueDelay, roundTrip: roundTrip.value, interval: interval, hasBeenCongested: hasBeenCongested,
            now: now)
        guard elapsed > interval else { return events }
        // A queue that is already draining may still mark all packets.
        let isDrainingMarks = marks.lastFraction == 1 && roundTrip.short < roundTrip.previousShort
        events.isMark = isMarked && !isDrainingMarks
        events.isDelay = !events.isMark && delays.average > delayTarget / 2
        return events
    }

    private mutating func react(to events: Events, now: MonotonicInstant) {
        if events.isAny {
            lastEvent = now
            hasBeenCongested = true
        }
        let interval = min(parameters.reductionInterval.seconds, roundTrip.value)
        guard events.isAny || queue.takeNewFrame() || (now - lastUpdate).seconds > interval else { return }
        lastUpdate = now
        delays.recordShortest(queueDelay)
        updateSlowly(now: now)
        window.recordApproach(packetSize: packetSize.value, now: now)
        reduce(after: events, now: now)
        grow(now: now)
        updateTarget()
    }

    private mutating func updateSlowly(now: MonotonicInstant) {
        guard flight.rotate(now: now) else { return }
        // At the highest rate, the window must stay close to the bytes in flight.
        guard target > limits.maximum * 0.95 else { return }
        let useful =
            parameters.pacingHeadroom * Double(limits.maximum.bitsPerSecond) / 8
            * (roundTrip.value + Self.roundTripMargin)
        window.limit(to: max(flight.longMaximum, useful), packetSize: packetSize.value)
    }

    private mutating func reduce(after events: Events, now: MonotonicInstant) {
        let size = packetSize.value
        let isTargetLow = Double(target.bitsPerSecond) < acknowledgedRate.rate * Self.lowTarget
        if events.isLoss {
            limit = .loss
            window.reduceAfterLoss(packetSize: size, roundTrip: roundTrip.value, now: now)
        } else if events.isMark {
            limit = .delay
            guard isL4S else {
                return window.reduceAfterClassicMark(packetSize: size, roundTrip: roundTrip.value, now: now)
            }
            hasL4SMarks = true
            window.reduceAfterMarks(
                fraction: marks.value, hasShortQueue: queueDelay < delayTarget / 4, isTargetLow: isTargetLow,
                previousInFlight: flight.previousMaximum, packetSize: size, roundTrip: roundTrip.value, now: now)
        } else if events.isDelay {
            limit = .delay
            let half = delayTarget / 2
            window.reduceAfterDelay(
                fraction: min(max((delays.average - half) / half, 0), 1), isTargetLow: isTargetLow, packetSize: size,
                roundTrip: roundTrip.value, now: now)
        }
    }

    private mutating func grow(now: MonotonicInstant) {
        let largest =
            packetSize.value + max(flight.maximum, flight.previousMaximum) * parameters.inFlightHeadroom
        isApplicationLimited = largest < window.size
        window.grow(
            ReferenceWindow.Conditions(
                packetSize: packetSize.value, roundTrip: roundTrip.value, delayScale: delays.windowScale,
                acknowledged: max(newlyAcknowledged - newlyMarked, 0), largest: largest,
                canGrow: target < limits.maximum, isMarkedByL4S: hasL4SMarks),
            now: now)
        newlyAcknowledged = 0
        newlyMarked = 0
    }

    /// Sets the target to one window per round trip, or less if the window holds few packets or if frames queue at the
    /// sender (draft, "Media Rate Control").
    private mutating func updateTarget() {
        let size = packetSize.value
        var rate = 8 * window.size / min(roundTrip.value + Self.roundTripMargin, Self.longestRoundTrip)
        rate *= 1 - min(0.2, max(0, size / window.size - 0.1))
        rate *= size / (size + Self.headerSize)
        rate /= Self.targetMargin * (1 + queue.rateAdjustment)
        let wanted = BitRate(bitsPerSecond: rate)
        target = wanted.clamped(to: limits.range)
        if wanted != target { limit = .configuration }
    }

    // MARK: Other input

    public mutating func remoteEstimateReceived(_ estimate: BitRate, now: MonotonicInstant) {
        remoteEstimate = estimate
    }

    public mutating func receiverReportReceived(
        fractionLost: Double, roundTripTime: Duration?, now: MonotonicInstant
    ) {}

    public mutating func demandChanged(_ demand: BitRate, now: MonotonicInstant) {}

    public mutating func limitsChanged(_ limits: RateLimits, now: MonotonicInstant) {
        self.limits = limits
        target = target.clamped(to: limits.range)
    }

    public mutating func senderQueueChanged(_ size: DataSize, now: MonotonicInstant) {
        queue.update(size: size, target: Double(target.bitsPerSecond), now: now)
    }

    // MARK: Decisions

    public mutating func advance(now: MonotonicInstant) -> ControlDecision {
        // Without this timeout, missing acknowledgements would keep the window closed forever.
        if queue.size > 0, now - lastSent > Self.timeout { givenUp = inFlight }
        updateDraining(now: now)
        let isBusy = queue.size > 0 || inFlight > 0
        return ControlDecision(
            targetBitRate: decided, pacingRate: pacingRate,
            congestionWindow: DataSize(bytes: givenUp + window.size * overhead),
            frameTimeout: parameters.maximumSenderDelay,
            nextWakeUp: now + (isBusy ? Self.queueInterval : Self.idleInterval))
    }

    /// Halves the target for a while if the base delay may be wrong, and then forgets the base delay (draft, "Clock
    /// drift issues and remedies").
    private mutating func updateDraining(now: MonotonicInstant) {
        guard delays.standing > delayTarget / 8 else {
            isDraining = false
            return
        }
        if now - drainStart > Self.baseDelayResetInterval {
            drainStart = now
            isDraining = true
        }
        guard isDraining,
            (now - drainStart).seconds >= max(Self.shortestDrain, Self.baseDelayDrainRoundTrips * roundTrip.value)
        else { return }
        isDraining = false
        base.reset(now: now)
        delays.resetStanding()
        queueDelay = 0
    }

    private var decided: BitRate {
        var rate = isDraining ? target * 0.5 : target
        if let remoteEstimate { rate = min(rate, remoteEstimate) }
        return rate.clamped(to: limits.range)
    }

    /// The ratio of the limit of bytes in flight to the window. It shrinks as the delay varies more (ref_wnd_overhead).
    private var overhead: Double {
        parameters.minimumOverhead + (parameters.maximumOverhead - parameters.minimumOverhead) * delays.windowScale
    }

    private var pacingRate: BitRate {
        let media = max(target, BitRate(bitsPerSecond: queue.mediaRate))
        return max(media * (parameters.pacingHeadroom * queue.framePacing), Self.minimumPacing)
    }

    public var snapshot: ControllerSnapshot {
        ControllerSnapshot(
            targetBitRate: decided, acknowledgedBitRate: BitRate(bitsPerSecond: acknowledgedRate.rate),
            networkState: delays.average > delayTarget / 2 ? .overusing : .normal, limit: limit,
            delayTrend: delays.average * 1e3, delayThreshold: delayTarget / 2 * 1e3,
            fractionLost: losses.lossRate, roundTripTime: .seconds(clamping: roundTrip.value))
    }
}

/// The rate of acknowledged bytes, over intervals of 100 ms.
struct AcknowledgedBytes: Sendable {
    static let interval = 0.1

    /// The rate in bit/s.
    private(set) var rate = 0.0
    private var bytes = 0.0
    private var start: MonotonicInstant

    init(now: MonotonicInstant) {
        start = now
    }

    mutating func add(_ size: Double, now: MonotonicInstant) {
        bytes += size
        let elapsed = (now - start).seconds
        guard elapsed > Self.interval else { return }
        rate = bytes * 8 / elapsed
        bytes = 0
        start = now
    }
}
