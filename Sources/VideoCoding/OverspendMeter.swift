import MediaCore

/// Makes an encoder that overspends pay back, and lets no debt grow old.
///
/// A leaky bucket as deep as the latency budget: frames fill it, time at the target rate drains it. What is above the
/// brim is debt. While there is debt the encoder is given less than the target, so that the queue in front of a link of
/// the target's rate empties with a time constant of half a second. Debt is bounded, because a picture that cannot be
/// made as small as asked must not keep the next minute's pictures poor.
struct OverspendMeter {
    private let budget: Double
    private var level = 0.0

    /// Seconds over which debt is paid back.
    private static let timeConstant = 0.5
    /// The most debt, in seconds at the target rate; at this much the encoder gets half of the target.
    private static let maximumDebt = 0.25

    init(latencyBudget: Duration) {
        budget = latencyBudget.seconds
    }

    /// Counts a frame of `size`, made for `rate`.
    mutating func spend(_ size: DataSize, at rate: EncodingRate) {
        let bitsPerSecond = Double(max(1, rate.bitRate.bitsPerSecond))
        level += size.bits - bitsPerSecond / Double(max(1, rate.frameRate))
        level = min(max(level, 0), (budget + Self.maximumDebt) * bitsPerSecond)
    }

    /// What to ask of the encoder so that it spends `target` in the long run.
    func allowance(for target: BitRate) -> BitRate {
        let debt = level / Double(max(1, target.bitsPerSecond)) - budget
        guard debt > 0 else { return target }
        return target * (1 - min(debt, Self.maximumDebt) / Self.timeConstant)
    }
}
