/// How a flow answered a change of what was usable. The names in its JSON are stable.
public struct StepReaction: Codable, Hashable, Sendable {
    /// Seconds since the scenario began.
    public var time: Double
    /// What was usable in the second before and in the one after, in Mbit/s.
    public var from: Double
    public var to: Double
    /// How much more than usable was sent in the worst second of the next ten, but for the first one, in percent.
    public var overshoot: Double
    /// Seconds until the rate sent was at most 110 % of what was usable; until the next change when it never was.
    public var settling: Double
    /// How much of what was usable was missed in the worst second of the next ten, but for the first one, in percent;
    /// nil where there was nothing.
    public var undershoot: Double?
    /// How much of what was usable was missed in the next 5 s, in percent; nil where there was nothing.
    public var deficit: Double?
    /// Seconds until the goodput was 90 % of what was usable; until the next change when it never was.
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

    /// Whether more was usable than before.
    public var isRise: Bool { to > from }
}
