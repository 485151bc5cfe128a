import MediaCore

/// Makes an encoder that overspends pay back, and one that underspends catch up a little, with a limited debt.
///
/// It models the queue of a link with the target's rate: each frame adds its time at the target rate, each frame
/// interval subtracts its length. While there is a queue the encoder gets less than the target, so that the queue
/// empties with a time constant. The debt is limited, because a picture that cannot be as
/// small as demanded must not spoil the pictures of the next minute. Of unspent bits, two frames' worth may be spent
/// later.
struct OverspendMeter {
    private var target: BitRate
    private var frameInterval: Double
    /// The queue, in seconds at the target rate; unspent time if it is negative.
    private var debt = 0.0

    /// The time over which debt is paid back.
    private let timeConstant: Duration
    /// The most debt, in seconds.
    private static let maximumDebt = 0.5
    /// The number of frames whose unspent bits may be spent later.
    private static let maximumCredit = 2.0
    /// The part of a frame interval up to which a queue is not paid back, because the sizes of frames vary.
    private static let tolerance = 0.5
    /// The least and the highest rate to ask for, as shares of the target.
    private static let shares = 0.5...1.3

    init(rate: EncodingRate, timeConstant: Duration = .milliseconds(250)) {
        self.timeConstant = timeConstant
        target = rate.bitRate
        frameInterval = 1 / max(1, rate.frameRate)
    }

    /// Sets another target rate. A faster link empties its queue sooner. A slower one needs longer, but that is not the
    /// encoder's debt: the lower rate already takes the queue into account.
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

    /// The rate that the encoder must get to spend the target in the long run.
    var allowance: BitRate {
        let tolerated = Self.tolerance * frameInterval
        let excess = debt > 0 ? max(0, debt - tolerated) : debt
        guard excess != 0 else { return target }
        return target * min(max(1 - excess / timeConstant.seconds, Self.shares.lowerBound), Self.shares.upperBound)
    }
}
