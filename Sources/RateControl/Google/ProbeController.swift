import MediaCore

/// Decides when to probe and at which rates: at the start 3 and 6 times the start rate, on with twice what was found
/// as long as probes succeed, again after a large drop, when there is suddenly more to send, and from time to time
/// while there is more to send than the target lets through.
struct ProbeController: Sendable {
    static let initialFactors = [3.0, 6.0]
    /// How long a probe lasts at least: the first ones longer, since nothing is known yet.
    static let initialDuration = Duration.milliseconds(100)
    static let duration = Duration.milliseconds(40)
    static let furtherFactor = 2.0
    /// A probe succeeds that raises the target to this part of its rate.
    static let successThreshold = 0.7
    static let resultTimeout = Duration.seconds(1)
    /// A target that falls to less than this part fell far.
    static let largeDropFactor = 0.66
    static let dropTimeout = Duration.seconds(5)
    static let rateAfterDrop = 0.85
    static let probeUncertainty = 0.05
    /// Between periodic probes: the first bound after a success, the second after failures.
    static let periodicInterval = Duration.seconds(5)
    static let maximumPeriodicInterval = Duration.seconds(10)
    static let periodicFactor = 2.0
    /// More than this part of the limit found, more probing gains little.
    static let sufficientFraction = 0.95

    private enum State: Sendable {
        case idle
        /// Waits for the result of probes; goes on when the target exceeds the rate.
        case waiting(successAbove: BitRate)
    }

    var range: ClosedRange<BitRate>
    var demand: BitRate
    private(set) var probeCount = 0
    private(set) var newClusters: [ProbeCluster] = []

    private var state = State.idle
    private var hasStarted = false
    private var estimate: BitRate
    private var lastProbe: MonotonicInstant?
    private var lastLargeDrop: MonotonicInstant?
    private var rateBeforeLargeDrop = BitRate.zero
    private var interval = periodicInterval
    private var duration = Self.duration
    private var wantsProbeOfResumption = false
    private var estimateAtProbe = BitRate.zero

    init(limits: RateLimits) {
        range = limits.range
        demand = limits.maximum
        estimate = limits.start
    }

    /// The clusters that were decided on since the last call.
    mutating func takeClusters() -> [ProbeCluster] {
        guard !newClusters.isEmpty else { return [] }
        defer { newClusters.removeAll() }
        return newClusters
    }

    /// The first packet leaves: probe from the start rate.
    mutating func start(now: MonotonicInstant) {
        guard !hasStarted else { return }
        hasStarted = true
        duration = Self.initialDuration
        let rates = Self.initialFactors.map { estimate * $0 }
        probe(at: rates, goesOn: true, now: now)
    }

    /// The target moved.
    mutating func setEstimate(_ newEstimate: BitRate, now: MonotonicInstant) {
        if newEstimate < estimate * Self.largeDropFactor {
            lastLargeDrop = now
            rateBeforeLargeDrop = estimate
        }
        estimate = newEstimate
        if case .waiting(let threshold) = state, estimate > threshold {
            probe(at: [estimate * Self.furtherFactor], goesOn: true, now: now)
        }
    }

    /// Delay is normal again after overuse: if the target fell far just before, look whether that was for long.
    mutating func recovered(now: MonotonicInstant) {
        guard case .idle = state, let lastLargeDrop, now - lastLargeDrop < Self.dropTimeout else { return }
        let suggested = rateBeforeLargeDrop * Self.rateAfterDrop
        guard suggested * (1 - Self.probeUncertainty) > estimate, isProbeAllowed(after: Self.periodicInterval, now: now)
        else { return }
        duration = Self.duration
        probe(at: [suggested], goesOn: false, now: now)
    }

    /// Feedback is back after a silence: find out what the path carries now, as soon as it is free.
    mutating func feedbackResumed() {
        wantsProbeOfResumption = true
    }

    /// There is more or less to send than before.
    mutating func setDemand(_ newDemand: BitRate, now: MonotonicInstant) {
        let grows = newDemand > demand
        demand = newDemand
        guard hasStarted, grows, case .idle = state, estimate < min(newDemand, range.upperBound) else { return }
        let rates = [min(newDemand, estimate * 2), min(newDemand * 2, estimate * 2)]
        probe(at: rates[0] == rates[1] ? [rates[0]] : rates, goesOn: true, now: now)
    }

    /// When `advance` has something to do.
    func nextEvent(now: MonotonicInstant) -> MonotonicInstant? {
        guard let lastProbe else { return nil }
        if case .waiting = state { return lastProbe + Self.resultTimeout }
        return wantsPeriodicProbe ? lastProbe + interval : nil
    }

    /// Ends waits for results and starts periodic probes, where the path lets them.
    mutating func advance(canProbe: Bool, now: MonotonicInstant) {
        guard let lastProbe else { return }
        if case .waiting = state, now - lastProbe > Self.resultTimeout { state = .idle }
        guard case .idle = state, canProbe, wantsPeriodicProbe, isProbeAllowed(after: interval, now: now) else {
            return
        }
        // What the last probe brought tells how soon to try again.
        let hasGained = estimate > estimateAtProbe * 1.1
        duration = Self.duration
        interval = hasGained ? Self.periodicInterval : min(interval * 1.5, Self.maximumPeriodicInterval)
        probe(at: [estimate * Self.periodicFactor], goesOn: true, now: now)
    }

    private var wantsPeriodicProbe: Bool {
        estimate < min(demand, range.upperBound) * Self.sufficientFraction
    }

    private func isProbeAllowed(after interval: Duration, now: MonotonicInstant) -> Bool {
        lastProbe.map { now - $0 >= interval } ?? true
    }

    private mutating func probe(at rates: [BitRate], goesOn: Bool, now: MonotonicInstant) {
        // Some room above the demand, so that a probe that just meets it shows that there is enough.
        let maximum = min(range.upperBound, demand * 2)
        var goesOn = goesOn
        var highest = BitRate.zero
        for rate in rates where highest < maximum {
            if rate >= maximum { goesOn = false }
            highest = min(rate, maximum)
            newClusters.append(ProbeCluster(id: probeCount, rate: highest, minimumDuration: duration))
            probeCount += 1
        }
        lastProbe = now
        estimateAtProbe = estimate
        state = goesOn ? .waiting(successAbove: highest * Self.successThreshold) : .idle
    }
}
