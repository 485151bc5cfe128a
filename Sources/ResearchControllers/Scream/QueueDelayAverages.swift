import MediaCore

/// Averages of the queueing delay: a slow-attack, fast-decay average that reveals congestion
/// (draft-ietf-ccwg-rfc8298bis-screamv2, "Detecting Increased Queue Delay"), and the delay's variation. In seconds.
struct QueueDelayAverages: Sendable {
    static let gain = 1.0 / 4
    static let shortGain = 1.0 / 5
    static let longGain = 1.0 / 50
    static let standingGain = 1.0 / 8
    /// The number of round trips over which the shortest queue is taken.
    static let standingRoundTrips = 100.0
    /// The margin by which the short average may exceed the long one, in seconds. Above and below it, the gains (per
    /// second of delay) change the window's scale.
    static let variationMargin = 0.002
    static let variationGainUp = 50.0
    static let variationGainDown = 5.0

    /// The average that decides about congestion (qdelay_avg).
    private(set) var average = 0.0
    /// The delay that never drains: a standing queue or a drifting clock.
    private(set) var standing = 0.0
    /// The scale of the window's growth and overhead (ref_wnd_delay_scale), from 1 for a steady delay down to 0.
    var windowScale: Double { max(0, 1 - variation) }

    private var short = 0.0
    private var long = 0.0
    private var variation = 0.0
    private var shortest = Double.infinity
    private var lastUpdate: MonotonicInstant
    private var lastStanding: MonotonicInstant

    init(now: MonotonicInstant) {
        lastUpdate = now
        lastStanding = now
    }

    /// Adds a delay at the window's update, for the standing queue.
    mutating func recordShortest(_ delay: Double) {
        shortest = min(shortest, delay)
    }

    /// Updates the averages, at most once per interval.
    mutating func update(
        delay: Double, roundTrip: Double, interval: Double, hasBeenCongested: Bool, now: MonotonicInstant
    ) {
        guard (now - lastUpdate).seconds > interval else { return }
        lastUpdate = now
        if shortest.isFinite, (now - lastStanding).seconds > roundTrip * Self.standingRoundTrips {
            standing = shortest < standing ? shortest : standing + Self.standingGain * (shortest - standing)
            shortest = .infinity
            lastStanding = now
        }
        let own = delay - standing
        average = own < average ? own : average + Self.gain * (own - average)
        short += Self.shortGain * (own - short)
        long += Self.longGain * (own - long)
        guard hasBeenCongested else { return }
        let excess = max(0, short - long) - Self.variationMargin
        variation += (excess > 0 ? Self.variationGainUp : Self.variationGainDown) * excess
        variation = min(max(variation, 0), 1)
    }

    /// Forgets the standing queue when the base delay, its reference, is forgotten.
    mutating func resetStanding() {
        standing = 0
    }
}
