/// The reaction of a flow to a change of the usable rate. The names in its JSON are stable.
public struct StepReaction: Codable, Hashable, Sendable {
    /// The time in seconds since the scenario began.
    public var time: Double
    /// The usable rate in the second before the change and in the second after it, in Mbit/s.
    public var from: Double
    public var to: Double
    /// The excess of the send rate over the usable rate in the worst of the next ten seconds, without the first, in
    /// percent.
    public var overshoot: Double
    /// The seconds until the send rate was at most 110 % of the usable rate; until the next change if it never was.
    public var settling: Double
    /// The unused part of the usable rate in the worst of the next ten seconds, without the first, in percent; nil if
    /// there is no such second.
    public var undershoot: Double?
    /// The unused part of the usable rate in the next 5 s, in percent; nil if the usable rate was zero.
    public var deficit: Double?
    /// The seconds until the goodput was 90 % of the usable rate; until the next change if it never was.
    public var recovery: Double

    public enum CodingKeys: String, CodingKey {
        case time = "time_s"
        case from = "from_mbps"
        case to = "to_mbps"
        case overshoot = "overshoot_pct"
        case settling = "settling_s"
        case undershoot = "undershoot_pct"
        case deficit = "deficit_pct"
        case recovery = "recovery_s"
    }

    /// True if the usable rate rose.
    public var isRise: Bool { to > from }
}
