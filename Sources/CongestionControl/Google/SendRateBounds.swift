import MediaCore

/// The target that delay, losses, the receiver and the limits allow (libwebrtc's `SendSideBandwidthEstimation`).
///
/// With transport-wide feedback losses act through `LossBasedEstimator`. Until it has enough data, and with receiver
/// reports only, the rule of draft-ietf-rmcat-gcc-02, section 6, holds: with less than 2 % loss the target grows by 8 %
/// over the lowest rate of the last second, from 2 % to 10 % it stays, above it falls by half of the fraction lost.
/// Without feedback it falls by a fifth each second.
struct SendRateBounds: Sendable {
    static let lowLoss = 0.02
    static let highLoss = 0.10
    static let growth = 1.08
    static let growthOffset = BitRate.kilobits(1)
    static let growthInterval = Duration.seconds(1)
    static let decreaseInterval = Duration.milliseconds(300)
    /// The time after the first report in which, without loss, the delay-based rate applies at once.
    static let startPhase = Duration.seconds(2)
    /// The age from which reports are ignored (1.2 times the longest RTCP interval).
    static let lossReportTimeout = Duration.seconds(6)
    /// The number of packets that a loss fraction must be based on.
    static let minimumPacketCount = 20
    static let lossInterval = Duration.seconds(1)

    private(set) var lossBased: LossBasedEstimator
    var backoff = RoundTripTimeBackoff()
    private(set) var fractionLost = 0.0
    private(set) var delayBound: BitRate?
    private var remoteEstimate: BitRate?
    var range: ClosedRange<BitRate> {
        didSet {
            lossBased.setRange(range)
            apply(current, because: .configuration)
        }
    }
    var roundTripTime: Duration?

    /// The target before the receiver's estimate.
    private var current: BitRate
    private var currentLimit = ControllerSnapshot.Limit.start
    /// The rates of the last second that may be its lowest: ascending in time and in rate.
    private var lowestRates: [(time: MonotonicInstant, rate: BitRate)] = []
    private var firstReport: MonotonicInstant?
    private var lastLossReport: MonotonicInstant?
    private var lastDecrease: MonotonicInstant?
    private var hasDecreasedSinceReport = false
    private var expectedPackets = 0
    private var lostPackets = 0
    private var lossIntervalEnd: MonotonicInstant?

    init(limits: RateLimits) {
        current = limits.start
        range = limits.range
        lossBased = LossBasedEstimator(range: limits.range)
    }

    var target: BitRate {
        guard let remoteEstimate, remoteEstimate < current else { return current }
        return max(remoteEstimate, range.lowerBound)
    }

    /// The last limit of the target.
    var limit: ControllerSnapshot.Limit {
        if let remoteEstimate, remoteEstimate < current { return .remoteEstimate }
        return currentLimit
    }

    // MARK: Transport-wide feedback

    mutating func setAcknowledged(_ rate: BitRate?) {
        if let rate { lossBased.setAcknowledged(rate) }
    }

    /// Computes a loss fraction each second from feedback, if no receiver report has one.
    mutating func addFeedback(_ results: [PacketResult], now: MonotonicInstant) {
        for result in results {
            if result.wasReportedMissing {
                lostPackets = max(lostPackets - 1, 0)
            } else {
                expectedPackets += 1
                if result.receiveTime == nil { lostPackets += 1 }
            }
        }
        let end = lossIntervalEnd ?? now + Self.lossInterval
        lossIntervalEnd = end
        guard now >= end, expectedPackets >= Self.minimumPacketCount else { return }
        let fraction = Double(lostPackets) / Double(expectedPackets)
        expectedPackets = 0
        lostPackets = 0
        lossIntervalEnd = now + Self.lossInterval
        addLossReport(fraction, now: now)
    }

    /// Takes the rate that delay allows.
    mutating func setDelayBound(_ bound: BitRate, now: MonotonicInstant) {
        delayBound = bound
        apply(current, because: .delay)
    }

    /// Sets the target to a probe's result.
    mutating func setProbeResult(_ rate: BitRate) {
        delayBound = nil
        lowestRates.removeAll(keepingCapacity: true)
        apply(rate, because: .delay)
    }

    /// Takes a report into the estimate that losses allow, after `setDelayBound`.
    mutating func updateLosses(_ results: [PacketResult], isApplicationLimited: Bool, now: MonotonicInstant) {
        lossBased.update(results, delayBased: delayBound, isApplicationLimited: isApplicationLimited)
        update(now: now)
    }

    // MARK: Reports

    /// Takes the fraction lost over about a second.
    mutating func addLossReport(_ fraction: Double, now: MonotonicInstant) {
        fractionLost = fraction.isFinite ? min(max(fraction, 0), 1) : 0
        firstReport = firstReport ?? now
        lastLossReport = now
        hasDecreasedSinceReport = false
        update(now: now)
    }

    /// Takes the receiver's estimate; zero, which would be silence for ever, takes the bound away.
    mutating func setRemoteEstimate(_ estimate: BitRate) {
        remoteEstimate = estimate > .zero ? estimate : nil
    }

    /// Lowers the target because nothing is heard.
    mutating func reduce(by factor: Double, now: MonotonicInstant) {
        lastDecrease = now
        lowestRates.removeAll(keepingCapacity: true)
        apply(current * factor, because: .feedbackTimeout)
    }

    // MARK: Time

    /// Moves the target with time and losses.
    mutating func update(now: MonotonicInstant) {
        if backoff.isAboveLimit {
            backOff(now: now)
            return
        }
        if fractionLost == 0, lossBased.rate == nil, isInStartPhase(now: now) {
            let trusted = max(current, delayBound ?? current, remoteEstimate ?? current)
            if trusted != current {
                lowestRates.removeAll(keepingCapacity: true)
                lowestRates.append((now, current))
                apply(trusted, because: currentLimit)
                return
            }
        }
        remember(now: now)
        guard let lastLossReport else { return }
        if let rate = lossBased.rate {
            apply(rate, because: lossBased.state == .delayBased ? .delay : .loss)
        } else if now - lastLossReport < Self.lossReportTimeout {
            updateByReports(now: now)
        }
    }

    private mutating func backOff(now: MonotonicInstant) {
        guard lastDecrease.map({ now - $0 >= RoundTripTimeBackoff.interval }) ?? true,
            current > RoundTripTimeBackoff.floor
        else { return }
        lastDecrease = now
        apply(max(current * RoundTripTimeBackoff.factor, RoundTripTimeBackoff.floor), because: .feedbackTimeout)
    }

    private func isInStartPhase(now: MonotonicInstant) -> Bool {
        firstReport.map { now - $0 < Self.startPhase } ?? true
    }

    private mutating func updateByReports(now: MonotonicInstant) {
        if fractionLost <= Self.lowLoss {
            let lowest = lowestRates.first?.rate ?? current
            apply(max(lowest * Self.growth + Self.growthOffset, current), because: currentLimit)
        } else if fractionLost > Self.highLoss {
            let interval = Self.decreaseInterval + max(roundTripTime ?? .zero, .zero)
            guard !hasDecreasedSinceReport, lastDecrease.map({ now - $0 >= interval }) ?? true else { return }
            lastDecrease = now
            hasDecreasedSinceReport = true
            apply(current * (1 - fractionLost / 2), because: .loss)
        }
    }

    private mutating func remember(now: MonotonicInstant) {
        if let expired = lowestRates.firstIndex(where: { now - $0.time < Self.growthInterval }) {
            lowestRates.removeFirst(expired)
        } else {
            lowestRates.removeAll(keepingCapacity: true)
        }
        while let last = lowestRates.last, last.rate >= current { lowestRates.removeLast() }
        lowestRates.append((now, current))
    }

    /// Sets the target within the bounds, and says which of them it met.
    private mutating func apply(_ rate: BitRate, because reason: ControllerSnapshot.Limit) {
        var bounded = rate
        currentLimit = reason
        if let delayBound, delayBound < bounded {
            bounded = delayBound
            currentLimit = .delay
        }
        let clamped = bounded.clamped(to: range)
        if clamped != bounded { currentLimit = .configuration }
        current = clamped
    }
}
