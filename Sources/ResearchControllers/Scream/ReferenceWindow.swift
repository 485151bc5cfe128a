import MediaCore

/// The reference window, in bytes: the approximate limit of bytes in flight, and the basis of the target
/// (draft-ietf-ccwg-rfc8298bis-screamv2, "Reference Window Update"; the congestion window of RFC 8298, section 4.1.2).
/// Times are in seconds.
struct ReferenceWindow: Sendable {
    /// The inputs of the window's growth, besides its own state.
    struct Conditions: Sendable {
        /// The largest packet (MSS).
        var packetSize: Double
        /// The smoothed round trip (s_rtt).
        var roundTrip: Double
        /// The delay scale, as in `QueueDelayAverages.windowScale`.
        var delayScale: Double
        /// The unmarked bytes that were acknowledged since the last update.
        var acknowledged: Double
        /// The upper bound of the window.
        var largest: Double
        /// True if a larger window is useful: the target is below its maximum.
        var canGrow: Bool
        /// True if L4S marks were seen. They reveal more about the queue than its delay.
        var isMarkedByL4S = false
    }

    /// The factor of the distance from the inflection point. Near that point, growth and back-off are scaled down.
    static let inflectionSlope = 8.0
    static let inflectionPackets = 20.0
    /// The growth factor after which the inflection point is updated; `inflectionRoundTrips` is the alternative, in
    /// round trips.
    static let inflectionThreshold = 1.05
    static let inflectionRoundTrips = 50.0
    /// The smallest window, in packets.
    static let minimumPackets = 2.0

    private let parameters: ScreamParameters
    /// The window (ref_wnd).
    private(set) var size: Double
    /// The window at the last onset of congestion (ref_wnd_i).
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

    /// Returns the scale for the distance from the inflection point, from 0.1 (at the point) to 1 (scl_t).
    func inflectionScale(packetSize: Double) -> Double {
        let distance = (size - inflection) / min(Self.inflectionPackets * packetSize, inflection) * Self.inflectionSlope
        return min(max(distance * distance, 0.1), 1)
    }

    /// Restarts the time without congestion while the window approaches the inflection point from below.
    mutating func recordApproach(packetSize: Double, now: MonotonicInstant) {
        if size < inflection, inflectionScale(packetSize: packetSize) < 1 { lastCongestion = now }
    }

    /// Returns the part of the multiplicative increase that is allowed again after congestion, from 0 to 1
    /// (post_congestion_scale_t).
    func postCongestionScale(roundTrip: Double, now: MonotonicInstant) -> Double {
        guard let lastCongestion else { return 1 }
        return min((now - lastCongestion).seconds / (parameters.postCongestionRoundTrips * roundTrip), 1)
    }

    // MARK: Reduction

    mutating func reduceAfterLoss(packetSize: Double, roundTrip: Double, now: MonotonicInstant) {
        reduce(by: 1 - parameters.lossFactor, packetSize: packetSize, roundTrip: roundTrip, now: now)
    }

    /// Reduces the window after marks of a queue with classic ECN only (RFC 3168).
    mutating func reduceAfterClassicMark(packetSize: Double, roundTrip: Double, now: MonotonicInstant) {
        reduce(by: 1 - parameters.markFactor, packetSize: packetSize, roundTrip: roundTrip, now: now)
    }

    /// Reduces the window after an L4S queue marked the given fraction of the packets.
    ///
    /// - Parameters:
    ///   - hasShortQueue: True if the delay is below a quarter of its target. The back-off is then scaled down near the
    ///     inflection point.
    ///   - isTargetLow: True if the target is already well below the receiving rate.
    ///   - previousInFlight: The maximum of bytes in flight. After a long time without congestion, the window returns
    ///     to it.
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

    /// Reduces the window after the queueing delay exceeded half of its target; `fraction` is the excess as a part of
    /// that half. This acts as a virtual L4S mark (l4s_alpha_v_t).
    ///
    /// The authors' code divides by the round trip twice, here and in the computation of the fraction; so does this
    /// code.
    mutating func reduceAfterDelay(
        fraction: Double, isTargetLow: Bool, packetSize: Double, roundTrip: Double, now: MonotonicInstant
    ) {
        let part = fraction / max(1, roundTrip / parameters.reductionInterval.seconds)
        let backOff = scaledBackOff(part / 2, isTargetLow: isTargetLow, roundTrip: roundTrip)
        reduce(by: backOff, packetSize: packetSize, roundTrip: roundTrip, now: now)
    }

    /// Scales a back-off down if the target is already low, and in long round trips, which have several back-offs.
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

    /// Stores the window at the onset of congestion, at the first reduction.
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

    /// Grows the window by the acknowledged bytes: a packet per round trip, and a part of itself long after congestion.
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

    /// Reduces the window to the size that can be used.
    mutating func limit(to largest: Double, packetSize: Double) {
        size = max(min(size, largest), Self.minimumPackets * packetSize)
    }
}
