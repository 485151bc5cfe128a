import MediaCore

/// The reference window: about how much may be in flight, and what the target follows from
/// (draft-ietf-ccwg-rfc8298bis-screamv2, "Reference Window Update"; RFC 8298, section 4.1.2, calls it the congestion
/// window). In bytes and seconds.
struct ReferenceWindow: Sendable {
    /// What the window is moved by, besides its own state.
    struct Conditions: Sendable {
        /// The largest packet (MSS).
        var packetSize: Double
        /// The smoothed round trip (s_rtt).
        var roundTrip: Double
        /// See `QueueDelayAverages.windowScale`.
        var delayScale: Double
        /// What was acknowledged since the last update, unmarked.
        var acknowledged: Double
        /// The window must not grow beyond this.
        var largest: Double
        /// Whether more would be of use: the target is below its maximum.
        var canGrow: Bool
        /// Whether L4S marks were seen: they say more of the queue than its delay.
        var isMarkedByL4S = false
    }

    /// Close to the inflection point growth and back-off are scaled by the distance from it, so many times.
    static let inflectionSlope = 8.0
    static let inflectionPackets = 20.0
    /// The point is set anew when the window has grown by so much again, or after so many round trips.
    static let inflectionThreshold = 1.05
    static let inflectionRoundTrips = 50.0
    /// The window of packets below which it does not fall.
    static let minimumPackets = 2.0

    private let parameters: ScreamParameters
    /// The window (ref_wnd).
    private(set) var size: Double
    /// Where congestion set in last (ref_wnd_i).
    private(set) var inflection = 1.0
    private var lowest = 1.0
    private var isInflectionHeld = false
    private var inflectionTime: MonotonicInstant
    private(set) var lastCongestion: MonotonicInstant?

    init(size: Double, parameters: ScreamParameters, now: MonotonicInstant) {
        self.size = size
        self.parameters = parameters
        inflectionTime = now
    }

    /// How near the window is to where congestion set in last, from 0.1 (there) to 1 (scl_t).
    func inflectionScale(packetSize: Double) -> Double {
        let distance = (size - inflection) / min(Self.inflectionPackets * packetSize, inflection) * Self.inflectionSlope
        return min(max(distance * distance, 0.1), 1)
    }

    /// Takes the time for one without congestion only once the window has left the inflection point from below.
    mutating func recordApproach(packetSize: Double, now: MonotonicInstant) {
        if size < inflection, inflectionScale(packetSize: packetSize) < 1 { lastCongestion = now }
    }

    /// How much of the multiplicative increase is granted again since congestion, from 0 to 1
    /// (post_congestion_scale_t).
    func postCongestionScale(roundTrip: Double, now: MonotonicInstant) -> Double {
        guard let lastCongestion else { return 1 }
        return min((now - lastCongestion).seconds / (parameters.postCongestionRoundTrips * roundTrip), 1)
    }

    // MARK: Reduction

    /// Packets were lost.
    mutating func reduceAfterLoss(packetSize: Double, roundTrip: Double, now: MonotonicInstant) {
        reduce(by: 1 - parameters.lossFactor, packetSize: packetSize, roundTrip: roundTrip, now: now)
    }

    /// A queue that knows classic ECN alone (RFC 3168) marked packets.
    mutating func reduceAfterClassicMark(packetSize: Double, roundTrip: Double, now: MonotonicInstant) {
        reduce(by: 1 - parameters.markFactor, packetSize: packetSize, roundTrip: roundTrip, now: now)
    }

    /// An L4S queue marked this part of the packets.
    ///
    /// - Parameters:
    ///   - hasShortQueue: whether the delay is below a quarter of its target; the back-off is then scaled down near the
    ///     inflection point.
    ///   - isTargetLow: whether the target is already well below what arrives.
    ///   - previousInFlight: the most that was in flight, which the window is brought back to after a long time without
    ///     congestion.
    mutating func reduceAfterMarks(
        fraction: Double, hasShortQueue: Bool, isTargetLow: Bool, previousInFlight: Double, packetSize: Double,
        roundTrip: Double, now: MonotonicInstant
    ) {
        var backOff = scaledBackOff(fraction / 2, isTargetLow: isTargetLow, roundTrip: roundTrip)
        if hasShortQueue { backOff *= max(0.25, inflectionScale(packetSize: packetSize)) }
        let uncongested = 100 * max(roundTrip, parameters.virtualRoundTrip.seconds)
        let wasLong = lastCongestion.map { (now - $0).seconds > uncongested } ?? true
        holdInflection(roundTrip: roundTrip, now: now)
        if wasLong, previousInFlight > 0 { size = min(size, previousInFlight) }
        apply(backOff, packetSize: packetSize, now: now)
    }

    /// The queueing delay stands above half of its target, by this part of that half: a mark of our own
    /// (l4s_alpha_v_t).
    ///
    /// The authors' code divides by the round trip twice, here and where the part is computed; so does this.
    mutating func reduceAfterDelay(
        fraction: Double, isTargetLow: Bool, packetSize: Double, roundTrip: Double, now: MonotonicInstant
    ) {
        let part = fraction / max(1, roundTrip / parameters.reductionInterval.seconds)
        let backOff = scaledBackOff(part / 2, isTargetLow: isTargetLow, roundTrip: roundTrip)
        reduce(by: backOff, packetSize: packetSize, roundTrip: roundTrip, now: now)
    }

    /// A target far below what arrives has answered already, and in long round trips there are several back-offs.
    private func scaledBackOff(_ backOff: Double, isTargetLow: Bool, roundTrip: Double) -> Double {
        backOff * (isTargetLow ? 0.25 : 1) / max(1, roundTrip / parameters.reductionInterval.seconds)
    }

    private mutating func reduce(by part: Double, packetSize: Double, roundTrip: Double, now: MonotonicInstant) {
        holdInflection(roundTrip: roundTrip, now: now)
        apply(part, packetSize: packetSize, now: now)
    }

    private mutating func apply(_ part: Double, packetSize: Double, now: MonotonicInstant) {
        size = max(size * (1 - part), Self.minimumPackets * packetSize)
        lowest = min(lowest, size)
        lastCongestion = now
    }

    /// Remembers where congestion set in, at its first reduction.
    private mutating func holdInflection(roundTrip: Double, now: MonotonicInstant) {
        if size > lowest * Self.inflectionThreshold
            || (now - inflectionTime).seconds > Self.inflectionRoundTrips * roundTrip
        {
            isInflectionHeld = false
        }
        guard !isInflectionHeld else { return }
        isInflectionHeld = true
        inflection = size
        lowest = size
        inflectionTime = now
    }

    // MARK: Increase

    /// Grows with what was acknowledged: a packet per round trip, and a part of itself once congestion is long ago.
    mutating func grow(_ conditions: Conditions, now: MonotonicInstant) {
        let packetSize = conditions.packetSize
        var increment = conditions.acknowledged * min(packetSize / size, 1) / (2 - conditions.delayScale)
        increment *= max(0.25, inflectionScale(packetSize: packetSize))
        increment *= min(1, conditions.roundTrip / parameters.virtualRoundTrip.seconds)
        if !conditions.isMarkedByL4S { increment *= max(0.1, conditions.delayScale) }
        increment *=
            1 + parameters.multiplicativeIncrease * size / packetSize
            * postCongestionScale(roundTrip: conditions.roundTrip, now: now)
        if conditions.canGrow, size + increment <= conditions.largest { size += increment }
        size = max(size, Self.minimumPackets * packetSize)
    }

    /// Brings the window down to what can be used.
    mutating func limit(to largest: Double, packetSize: Double) {
        size = max(min(size, largest), Self.minimumPackets * packetSize)
    }
}
