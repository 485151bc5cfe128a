import MediaCore

/// The rate that delay allows (libwebrtc's `AimdRateControl`; draft-ietf-rmcat-gcc-02, section 5.5).
///
/// While delay does not grow, the rate grows, by 8 % a second far from the known capacity and by about a packet per
/// response time near it. When delay grows, the rate falls to a part of the rate of arrivals.
struct AIMDRateControl: Sendable {
    static let backoff = 0.85
    /// The additional decrease, so that the rate continues to fall when hardly anything arrives.
    static let backoffOffset = BitRate.kilobits(5)
    /// ln 1.08.
    static let logGrowthPerSecond = 0.076961041136128
    static let defaultRoundTripTime = Duration.milliseconds(200)
    /// The factor, with an offset, by which the rate may exceed arrivals, so that an idle application does not make it
    /// grow.
    static let headroomFactor = 1.5
    static let headroom = BitRate.kilobits(10)
    static let frameInterval = 1.0 / 30
    static let packetBits = 1200.0 * 8
    static let minimumGrowthPerSecond = 4000.0

    enum State: Sendable {
        case hold
        case increase
        case decrease
    }

    private(set) var rate: BitRate
    private(set) var capacity = LinkCapacityEstimator()
    private(set) var state = State.hold
    var minimum: BitRate
    var roundTripTime = defaultRoundTripTime

    private var throughput: BitRate
    private var lastChange: MonotonicInstant?

    init(start: BitRate, minimum: BitRate) {
        rate = start
        throughput = start
        self.minimum = minimum
    }

    /// Updates the rate with the state of delay and the rate of arrivals, and returns it.
    mutating func update(
        networkState: ControllerSnapshot.NetworkState, acknowledged: BitRate?, now: MonotonicInstant
    ) -> BitRate {
        if let acknowledged { throughput = acknowledged }
        changeState(networkState, now: now)
        switch state {
        case .hold: break
        case .increase: increase(now: now)
        case .decrease: decrease(now: now)
        }
        rate = max(rate, minimum)
        return rate
    }

    /// Sets the rate to a value from another measurement.
    mutating func setEstimate(_ estimate: BitRate, now: MonotonicInstant) {
        rate = max(estimate, minimum)
        lastChange = now
    }

    /// Returns true if a further decrease is due: once a round trip, or at once if less than half of the rate arrives.
    func isTimeToReduceFurther(throughput: BitRate, now: MonotonicInstant) -> Bool {
        guard let lastChange else { return true }
        let interval = min(max(roundTripTime, .milliseconds(10)), .milliseconds(200))
        return now - lastChange >= interval || throughput < rate * 0.5
    }

    /// The growth of the rate near the capacity, in bit/s per second: a packet per response time.
    var additiveGrowthPerSecond: Double {
        let frameBits = Double(rate.bitsPerSecond) * Self.frameInterval
        let packetsPerFrame = max((frameBits / Self.packetBits).rounded(.up), 1)
        // Twice the time that the detector (about 100 ms) and a round trip take.
        let responseTime = 2 * (max(roundTripTime, .zero).seconds + 0.1)
        return max(frameBits / packetsPerFrame / responseTime, Self.minimumGrowthPerSecond)
    }

    private mutating func changeState(_ networkState: ControllerSnapshot.NetworkState, now: MonotonicInstant) {
        switch networkState {
        case .normal:
            if state == .hold {
                lastChange = now
                state = .increase
            }
        case .overusing: state = .decrease
        case .underusing: state = .hold
        }
    }

    private mutating func increase(now: MonotonicInstant) {
        if let bound = capacity.upperBound, throughput > bound { capacity.reset() }
        let limit = throughput * Self.headroomFactor + Self.headroom
        if rate < limit {
            let elapsed = lastChange.map { max((now - $0).seconds, 0) }
            let growth: Double
            if capacity.rate != nil {
                growth = additiveGrowthPerSecond * (elapsed ?? 0)
            } else {
                growth = max(Double(rate.bitsPerSecond) * (Self.growth(over: elapsed ?? 1) - 1), 1000)
            }
            rate = min(rate + BitRate(bitsPerSecond: growth), limit)
        }
        lastChange = now
    }

    private mutating func decrease(now: MonotonicInstant) {
        var decreased = throughput * Self.backoff
        if decreased > Self.backoffOffset { decreased = decreased - Self.backoffOffset }
        if decreased > rate, let known = capacity.rate { decreased = known * Self.backoff }
        rate = min(rate, decreased)
        if let bound = capacity.lowerBound, throughput < bound { capacity.reset() }
        capacity.overuseDetected(at: throughput)
        // Until delay is normal again; a decrease is made once for each time that overuse is seen.
        state = .hold
        lastChange = now
    }

    /// The factor by which the rate grows in up to a second.
    private static func growth(over seconds: Double) -> Double {
        // The exponential series: the omitted terms are below 1e-7 of the result for so small an exponent.
        let exponent = logGrowthPerSecond * min(seconds, 1)
        return 1 + exponent * (1 + exponent / 2 * (1 + exponent / 3 * (1 + exponent / 4)))
    }
}
