import MediaCore

/// The rate that losses allow (libwebrtc's `LossBasedBweV2`).
///
/// After each observation a few candidates for the bandwidth are tried, each with its best-fitting inherent loss; the
/// candidate that makes the last observations most probable wins, with a preference for a higher one. The acknowledged
/// rate bounds the result from below, the average loss and the delay-based rate bound it from above. If losses limit
/// the rate, it first falls and is held for a while, longer each time, and then grows in steps with padding.
struct LossBasedEstimator: Sendable {
    enum State: Hashable, Sendable {
        /// Losses do not limit the rate.
        case delayBased
        /// Losses limit the rate and it grows: padding supplements media.
        case increasing
        case decreasing
    }

    static let candidateFactors = [1.02, 1.0, 0.95]
    static let initialInherentLoss = 0.01
    static let leastObservations = 3
    /// Above this loss fraction the rate is at most `upperBoundBalance`, in bit/s, divided by the excess.
    static let upperBoundOffset = 0.05
    static let upperBoundBalance = 100_000.0
    /// The rate grows by this factor in each window at most.
    static let maximumIncrease = 1.3
    static let increaseWindow = Duration.milliseconds(300)
    /// The rate is also at most this multiple of the acknowledged rate; right after a hold, the second value applies.
    static let rampUpFactor = 1.5
    static let rampUpFactorInHold = 1.2
    static let holdThreshold = 1.3
    static let initialHold = Duration.milliseconds(300)
    static let maximumHold = Duration.seconds(60)
    static let holdFactor = 2
    static let paddingDuration = Duration.seconds(2)
    /// The lowest rate, in bit/s.
    static let leastRate = 5000.0

    private struct Hold: Sendable {
        var end: MonotonicInstant?
        var duration = initialHold
        /// The rate in bit/s.
        var rate = Double.infinity
    }

    private(set) var observations = LossObservations()
    private(set) var state = State.delayBased
    /// The model, whose rates are in bit/s like all rates below; nil before the first observation.
    private var model: LossModel?
    private var result = 0.0
    private var acknowledged: Double?
    private var minimum: Double
    private var maximum: Double
    private var hold = Hold()
    private var padding: (rate: Double, start: MonotonicInstant)?
    private var increaseWindowStart: MonotonicInstant?
    private var increaseLimit = Double.infinity

    init(range: ClosedRange<BitRate>) {
        minimum = Double(range.lowerBound.bitsPerSecond)
        maximum = Double(range.upperBound.bitsPerSecond)
    }

    /// The rate; nil before three observations.
    var rate: BitRate? {
        model != nil && observations.total >= Self.leastObservations ? BitRate(bitsPerSecond: result) : nil
    }

    /// The bandwidth that losses allow, and the inherent loss; nil before the first observation.
    var estimate: LossModel? { model }

    mutating func setRange(_ range: ClosedRange<BitRate>) {
        minimum = Double(range.lowerBound.bitsPerSecond)
        maximum = Double(range.upperBound.bitsPerSecond)
    }

    mutating func setAcknowledged(_ rate: BitRate) {
        acknowledged = Double(rate.bitsPerSecond)
    }

    /// Takes a report, the rate that delay allows and whether the application is limited.
    mutating func update(_ results: [PacketResult], delayBased: BitRate?, isApplicationLimited: Bool) {
        guard observations.add(results), let now = observations.lastSend else { return }
        let delayBased = delayBased.map { Double($0.bitsPerSecond) }
        if model == nil, let delayBased {
            model = LossModel(inherentLoss: Self.initialInherentLoss, bandwidth: delayBased)
            result = delayBased
        }
        guard let current = model else { return }
        var best = bestCandidate(current, delayBased: delayBased, isApplicationLimited: isApplicationLimited, now: now)
        // More is lost than the path explains by itself: no time to grow.
        if observations.averageLoss > best.inherentLoss, best.bandwidth > current.bandwidth {
            best.bandwidth = current.bandwidth
        }
        if state != .delayBased { limitIncrease(of: &best, from: current, now: now) }
        let bounded = max(lowerBound, min(best.bandwidth, upperBound, delayBased ?? .infinity))
        if bounded < best.bandwidth {
            model = LossModel(inherentLoss: 0, bandwidth: bounded)
        } else {
            best.bandwidth = max(best.bandwidth, lowerBound)
            model = best
        }
        changeState(bounded, delayBased: delayBased ?? .infinity, now: now)
    }

    // MARK: Candidates

    private func bestCandidate(
        _ current: LossModel, delayBased: Double?, isApplicationLimited: Bool, now: MonotonicInstant
    ) -> LossModel {
        let limit = max(state != .delayBased && increaseLimit.isFinite ? increaseLimit : maximum, current.bandwidth)
        var best = current
        var highest = -Double.infinity
        func consider(_ bandwidth: Double) {
            var candidate = current
            candidate.bandwidth = min(bandwidth, limit)
            candidate.boundInherentLoss()
            candidate.improveInherentLoss(observations)
            let objective = candidate.objective(observations)
            if objective > highest {
                highest = objective
                best = candidate
            }
        }
        for factor in Self.candidateFactors { consider(factor * current.bandwidth) }
        // A small acknowledged rate of an application-limited sender says nothing about the path, unless padding filled
        // it.
        if let acknowledged, !isApplicationLimited || isPadding(now: now) { consider(acknowledged) }
        if let delayBased, delayBased > current.bandwidth { consider(delayBased) }
        return best
    }

    private func isPadding(now: MonotonicInstant) -> Bool {
        padding.map { $0.start + Self.paddingDuration >= now } ?? false
    }

    /// Limits growth to steps near the acknowledged rate while losses limit the rate.
    private func limitIncrease(of best: inout LossModel, from current: LossModel, now: MonotonicInstant) {
        if let start = increaseWindowStart, start + Self.increaseWindow > now {
            best.bandwidth = min(best.bandwidth, increaseLimit)
        }
        guard isIncreasing(from: current.bandwidth, to: best.bandwidth), let acknowledged else { return }
        let isHeld = hold.rate.isFinite && acknowledged < Self.holdThreshold * hold.rate
        let factor = isHeld ? Self.rampUpFactorInHold : Self.rampUpFactor
        best.bandwidth = max(current.bandwidth, min(best.bandwidth, factor * acknowledged))
        // One bit per second at least, so that the state becomes the one that sends padding.
        if state == .decreasing, best.bandwidth == current.bandwidth { best.bandwidth += 1 }
    }

    private func isIncreasing(from old: Double, to new: Double) -> Bool {
        state != .delayBased && (old < new || (old == new && state == .increasing))
    }

    // MARK: Bounds

    private var lowerBound: Double { max(acknowledged ?? 0, minimum) }

    private var upperBound: Double {
        let excess = observations.averageLoss - Self.upperBoundOffset
        return excess > 0 ? Self.upperBoundBalance / excess : maximum
    }

    // MARK: States

    private mutating func changeState(_ bounded: Double, delayBased: Double, now: MonotonicInstant) {
        let isLossLimited = bounded < delayBased && bounded < maximum
        if state == .decreasing, bounded < delayBased, let end = hold.end, end > now {
            // The acknowledged rate bounds the held rate from below, and the held rate the result from above.
            hold.rate = max(lowerBound, hold.rate)
            result = min(hold.rate, bounded)
            return
        }
        if isLossLimited, isIncreasing(from: result, to: bounded), canGoOnIncreasing(to: bounded, now: now) {
            if bounded > padding?.rate ?? -.infinity { padding = (bounded, now) }
            state = .increasing
        } else if isLossLimited {
            if state != .decreasing {
                hold = Hold(
                    end: now + hold.duration, duration: min(hold.duration * Self.holdFactor, Self.maximumHold),
                    rate: bounded)
            }
            padding = nil
            state = .decreasing
        } else {
            hold = Hold()
            padding = nil
            state = .delayBased
        }
        result = bounded
        guard state != .delayBased, let bandwidth = model?.bandwidth,
            increaseWindowStart.map({ $0 + Self.increaseWindow < now }) ?? true
        else { return }
        increaseLimit = max(bandwidth * Self.maximumIncrease, Self.leastRate)
        increaseWindowStart = now
    }

    /// Padding is sent for two seconds at a rate; then the rate must have grown.
    private func canGoOnIncreasing(to rate: Double, now: MonotonicInstant) -> Bool {
        guard state == .increasing, let padding else { return true }
        return isPadding(now: now) || padding.rate < rate
    }
}
