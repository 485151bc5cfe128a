import MediaCore

/// Makes an encoder that overspends pay back, one that underspends catch up a little, and lets no debt grow old.
///
/// It counts how long a link of the target's rate would have a queue in front of it: each frame adds the time it takes
/// at the target rate, each frame interval takes its length off. While there is a queue the encoder is given less than
/// the target, so that it empties with a time constant of a quarter of a second. The debt is bounded, because a picture
/// that cannot be made as small as asked must not keep the next minute's pictures poor. Of what was not spent, two
/// frames' worth may be spent later.
struct OverspendMeter {
    private var target: BitRate
    private var frameInterval: Double
    /// The queue, in seconds at the target rate; what was not spent, where it is negative.
    private var debt = 0.0

    /// Seconds over which debt is paid back.
    private static let timeConstant = 0.25
    /// The most debt, in seconds.
    private static let maximumDebt = 0.5
    /// How many frames' worth may be spent later.
    private static let maximumCredit = 2.0
    /// How much of a frame interval a queue may be without being paid back: sizes vary.
    private static let tolerance = 0.5
    /// The least and the most to ask for, as shares of the target.
    private static let shares = 0.5...1.3

    init(rate: EncodingRate) {
        target = rate.bitRate
        frameInterval = 1 / max(1, rate.frameRate)
    }

    /// Aims at another rate. A faster link empties its queue sooner; that a slower one needs longer is not held against
    /// the encoder, as whoever lowered the rate reckoned with the queue.
    mutating func setRate(_ rate: EncodingRate) {
        if rate.bitRate > target { debt *= target / rate.bitRate }
        target = rate.bitRate
        frameInterval = 1 / max(1, rate.frameRate)
    }

    /// Counts a frame of `size`.
    mutating func spend(_ size: DataSize) {
        let duration = size.bits / Double(max(1, target.bitsPerSecond))
        debt = min(max(debt + duration - frameInterval, -Self.maximumCredit * frameInterval), Self.maximumDebt)
    }

    /// The rate to ask of the encoder so that it spends the target in the long run.
    var allowance: BitRate {
        let tolerated = Self.tolerance * frameInterval
        let excess = debt > 0 ? max(0, debt - tolerated) : debt
        guard excess != 0 else { return target }
        return target * min(max(1 - excess / Self.timeConstant, Self.shares.lowerBound), Self.shares.upperBound)
    }
}
