import MediaCore

/// Decides on probes and their rates (libwebrtc's `ProbeController`, without a network state estimator and without
/// repeated initial probing, which are off by default). Probing in the application-limited region, which libwebrtc does
/// for screen shares, is for all pictures here, since a picture of many tiles varies as much.
///
/// Probes are sent at the start, at 3 and 6 times the start rate; then at twice the result while a probe brings more
/// than 70 % of its rate; up to a maximum that grew; every five seconds at twice the target in the application-limited
/// region; up to a demand that changed; and at 85 % of the earlier rate when delay is normal again after a large drop.
/// There are no probes while delay grows or shrinks, while round trips are too long or while losses limit the rate.
struct ProbeController: Sendable {
    static let initialFactors = [3.0, 6.0]
    static let furtherFactor = 2.0
    /// A probe continues when the target exceeds this part of its rate.
    static let furtherThreshold = 0.7
    static let duration = Duration.milliseconds(15)
    static let resultTimeout = Duration.seconds(1)
    /// A target that falls to less than this part fell far.
    static let largeDropFactor = 0.66
    static let dropTimeout = Duration.seconds(5)
    static let rateAfterDrop = 0.85
    static let probeUncertainty = 0.05
    static let dropProbeInterval = Duration.seconds(5)
    static let limitedRegionEndedTimeout = Duration.seconds(3)
    static let limitedRegionInterval = Duration.seconds(5)
    static let limitedRegionFactor = 2.0
    static let demandFactors = [1.0, 2.0]
    /// The limit of probes for demand, as a multiple of the target.
    static let demandLimitFactor = 2.0

    private enum State: Sendable {
        case initial
        /// Waiting for the result of probes; probing continues when the target exceeds the rate.
        case waiting(furtherAbove: BitRate)
        case complete
    }

    private(set) var probeCount = 0
    private(set) var newClusters: [ProbeCluster] = []

    private var range: ClosedRange<BitRate>
    /// The application's demand; nil until it has stated one.
    private var demand: BitRate?
    private var state = State.initial
    private var startRate: BitRate
    private var estimate: BitRate
    private var isAllowed = true
    private var limitedRegionStart: MonotonicInstant?
    private var limitedRegionEnd: MonotonicInstant?
    private var lastProbe: MonotonicInstant?
    private var lastLargeDrop: MonotonicInstant?
    private var lastDropProbe: MonotonicInstant
    private var rateBeforeLargeDrop = BitRate.zero

    init(limits: RateLimits, now: MonotonicInstant) {
        range = limits.range
        startRate = limits.start
        estimate = limits.start
        lastDropProbe = now
    }

    /// The clusters that were decided on since the last call.
    mutating func takeClusters() -> [ProbeCluster] {
        guard !newClusters.isEmpty else { return [] }
        defer { newClusters.removeAll() }
        return newClusters
    }

    /// The first packet leaves: probe from the start rate.
    mutating func start(now: MonotonicInstant) {
        guard case .initial = state else { return }
        probe(at: Self.initialFactors.map { startRate * $0 }, goesOn: true, now: now)
    }

    /// Sets the target and its limit, and starts the probes that they permit.
    mutating func setEstimate(_ newEstimate: BitRate, isProbingAllowed: Bool, now: MonotonicInstant) {
        isAllowed = isProbingAllowed
        if newEstimate < estimate * Self.largeDropFactor {
            lastLargeDrop = now
            rateBeforeLargeDrop = estimate
        }
        estimate = newEstimate
        if case .waiting(let threshold) = state, estimate > threshold {
            probe(at: [estimate * Self.furtherFactor], goesOn: true, now: now)
        }
    }

    /// The application-limited region began then; nil outside it.
    mutating func setLimitedRegion(start: MonotonicInstant?, now: MonotonicInstant) {
        if limitedRegionStart != nil, start == nil { limitedRegionEnd = now }
        limitedRegionStart = start
    }

    /// Starts a probe when delay is normal again after it shrank, if the target fell far just before and the
    /// application was not the cause.
    mutating func recovered(now: MonotonicInstant) {
        let endedRecently = limitedRegionEnd.map { now - $0 < Self.limitedRegionEndedTimeout } ?? false
        guard case .complete = state, limitedRegionStart != nil || endedRecently, let lastLargeDrop,
            now - lastLargeDrop < Self.dropTimeout, now - lastDropProbe > Self.dropProbeInterval
        else { return }
        let suggested = rateBeforeLargeDrop * Self.rateAfterDrop
        guard suggested * (1 - Self.probeUncertainty) > estimate else { return }
        lastDropProbe = now
        probe(at: [suggested], goesOn: false, now: now)
    }

    /// Takes the rate that there is to send.
    mutating func setDemand(_ newDemand: BitRate, now: MonotonicInstant) {
        let changes = newDemand != demand
        demand = newDemand
        guard case .complete = state, changes, limitedRegionStart != nil,
            estimate < min(newDemand, range.upperBound)
        else { return }
        let limit = estimate * Self.demandLimitFactor
        var rates: [BitRate] = []
        var isLimited = false
        for factor in Self.demandFactors where !isLimited {
            isLimited = limit < newDemand * factor
            let rate = min(newDemand * factor, limit)
            if rates.last.map({ rate > $0 }) ?? true { rates.append(rate) }
        }
        probe(at: rates, goesOn: isLimited, now: now)
    }

    /// The limits changed: up to a maximum that grew.
    mutating func setRange(_ newRange: ClosedRange<BitRate>, now: MonotonicInstant) {
        let grows = newRange.upperBound > range.upperBound
        range = newRange
        guard case .complete = state, grows, estimate < range.upperBound else { return }
        probe(at: [range.upperBound], goesOn: false, now: now)
    }

    /// Ends waits for results, and probes from time to time in the application-limited region.
    mutating func advance(now: MonotonicInstant) {
        guard let lastProbe else { return }
        if case .waiting = state, now - lastProbe > Self.resultTimeout { state = .complete }
        guard case .complete = state, let limitedRegionStart,
            now - max(limitedRegionStart, lastProbe) >= Self.limitedRegionInterval
        else { return }
        probe(at: [estimate * Self.limitedRegionFactor], goesOn: true, now: now)
    }

    private mutating func probe(at rates: [BitRate], goesOn: Bool, now: MonotonicInstant) {
        guard isAllowed else { return }
        // Twice the demand, so that a probe that just meets the demand shows that there is enough.
        let maximum = demand.map { min(range.upperBound, $0 * 2) } ?? range.upperBound
        var goesOn = goesOn
        var last = BitRate.zero
        for rate in rates {
            if rate >= maximum { goesOn = false }
            last = min(rate, maximum)
            newClusters.append(ProbeCluster(id: probeCount, rate: last, minimumDuration: Self.duration))
            probeCount += 1
        }
        lastProbe = now
        state = goesOn ? .waiting(furtherAbove: last * Self.furtherThreshold) : .complete
    }
}
