import MediaCore

/// The target: what delay, the receiver and the limits allow, moved by losses as well
/// (draft-ietf-rmcat-gcc-02, section 6).
///
/// With less than 2 % lost it grows by 8 % over the lowest rate of the last second, from 2 % to 10 % it stays, above
/// it falls by half of the fraction lost.
struct SendRateBounds: Sendable {
    static let lowLoss = 0.02
    static let highLoss = 0.10
    static let growth = 1.08
    static let growthOffset = BitRate.kilobits(1)
    static let growthInterval = Duration.seconds(1)
    static let decreaseInterval = Duration.milliseconds(300)
    /// So long after the first report, without loss, the delay-based rate is trusted at once.
    static let startPhase = Duration.seconds(2)
    /// Reports older than this (1.2 times the longest RTCP interval) say nothing of now.
    static let lossReportTimeout = Duration.seconds(6)
    /// How many packets a fraction must be based on.
    static let minimumPacketCount = 20
    static let lossInterval = Duration.seconds(1)

    private(set) var target: BitRate
    private(set) var fractionLost = 0.0
    private(set) var limit = ControllerSnapshot.Limit.start
    /// What losses alone would allow.
    private(set) var lossBasedRate: BitRate
    private(set) var delayBound: BitRate?
    private(set) var remoteEstimate: BitRate?
    var range: ClosedRange<BitRate> { didSet { apply(target, because: .configuration) } }
    var roundTripTime: Duration?

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
        target = limits.start
        lossBasedRate = limits.start
        range = limits.range
    }

    /// Takes what transport-wide feedback says of losses.
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

    /// Takes the fraction lost over about a second.
    mutating func addLossReport(_ fraction: Double, now: MonotonicInstant) {
        fractionLost = fraction.isFinite ? min(max(fraction, 0), 1) : 0
        firstReport = firstReport ?? now
        lastLossReport = now
        hasDecreasedSinceReport = false
        update(now: now)
    }

    /// Takes the rate that delay allows.
    mutating func setDelayBound(_ bound: BitRate, now: MonotonicInstant) {
        delayBound = bound
        firstReport = firstReport ?? now
        apply(target, because: .delay)
    }

    /// Takes the receiver's estimate; zero, which would be silence for ever, takes the bound away.
    mutating func setRemoteEstimate(_ estimate: BitRate) {
        remoteEstimate = estimate > .zero ? estimate : nil
        apply(target, because: .remoteEstimate)
    }

    /// Sets the target to what a probe measured.
    mutating func setProbeResult(_ rate: BitRate) {
        delayBound = rate
        lowestRates.removeAll(keepingCapacity: true)
        apply(rate, because: .delay)
    }

    /// Lowers the target because nothing is heard.
    mutating func reduce(by factor: Double, now: MonotonicInstant) {
        lastDecrease = now
        lowestRates.removeAll(keepingCapacity: true)
        apply(target * factor, because: .feedbackTimeout)
    }

    /// Moves the target with time and losses.
    mutating func update(now: MonotonicInstant) {
        if fractionLost == 0, firstReport.map({ now - $0 < Self.startPhase }) ?? true {
            let trusted = max(target, delayBound ?? target, remoteEstimate ?? target)
            if trusted != target {
                lowestRates.removeAll(keepingCapacity: true)
                apply(trusted, because: limit)
                lowestRates.append((now, target))
                return
            }
        }
        remember(now: now)
        guard let lastLossReport, now - lastLossReport < Self.lossReportTimeout else { return }
        if fractionLost <= Self.lowLoss {
            let lowest = lowestRates.first?.rate ?? target
            lossBasedRate = max(lowest * Self.growth + Self.growthOffset, target)
            apply(lossBasedRate, because: limit)
        } else if fractionLost > Self.highLoss {
            let interval = Self.decreaseInterval + max(roundTripTime ?? .zero, .zero)
            guard !hasDecreasedSinceReport, lastDecrease.map({ now - $0 >= interval }) ?? true else { return }
            lastDecrease = now
            hasDecreasedSinceReport = true
            lossBasedRate = target * (1 - fractionLost / 2)
            apply(lossBasedRate, because: .loss)
        }
    }

    private mutating func remember(now: MonotonicInstant) {
        if let expired = lowestRates.firstIndex(where: { now - $0.time < Self.growthInterval }) {
            lowestRates.removeFirst(expired)
        } else {
            lowestRates.removeAll(keepingCapacity: true)
        }
        while let last = lowestRates.last, last.rate >= target { lowestRates.removeLast() }
        lowestRates.append((now, target))
    }

    /// Sets the target within all bounds, and says which of them it met.
    private mutating func apply(_ rate: BitRate, because reason: ControllerSnapshot.Limit) {
        var bounded = rate
        limit = reason
        if let delayBound, delayBound < bounded {
            bounded = delayBound
            limit = .delay
        }
        if let remoteEstimate, remoteEstimate < bounded {
            bounded = remoteEstimate
            limit = .remoteEstimate
        }
        let clamped = bounded.clamped(to: range)
        if clamped != bounded { limit = .configuration }
        target = clamped
    }
}
