public import MediaCore

/// The constants of `ConfrelayCongestionController`. The defaults are what it is meant to run with; that they can be
/// changed is for measuring how much depends on each.
public struct ConfrelayParameters: Hashable, Sendable {
    /// The part of the capacity that is used where it never varies.
    public var utilization = 1.0
    /// How much less is used where predictions of the capacity are wrong by their own size on average.
    public var caution = 0.45
    /// A queue that takes this long to drain, less what is normal, stops sending but for the minimum: about a frame.
    public var drainTime = Duration.milliseconds(25)
    /// How long a busy link is looked at to know its capacity: a few frames.
    public var memory = Duration.milliseconds(70)
    /// A longer wait between two packets is an interruption: only so much of it counts against the capacity, so that
    /// the rate of before is there again when it ends.
    public var interruption = Duration.milliseconds(60)
    /// A predicted queueing delay above this stops all that is paced.
    public var holdDelay = Duration.milliseconds(60)
    /// The pacing rate over the capacity: how fast packets of a frame leave, and so how much more capacity than known
    /// a frame can reveal.
    public var pacingFactor = 1.15
    /// The pacing rate beyond that: small frames are trains as well, and of two flows the smaller one learns relatively
    /// more.
    public var additivePacingRate = BitRate.kilobits(1500)
    /// By how much of itself the estimate of the capacity grows each second while nothing queues.
    public var growth = 1.0
    /// What a packet that found the link idle may take to get through, in times that the capacity says, before the rest
    /// counts against the capacity.
    public var idleAllowance = 1.0
    /// How much of a predicted queue is taken for jitter, in times of its median.
    public var jitterAllowance = 1.5
    /// By how many times the median jitter feedback may come later than predicted before its absence means something.
    public var jitterMargin = 1.5
    /// What is sent beyond the part of the capacity that delay allows, at a capacity of 1 Mbit/s; it goes with the square
    /// root of the capacity. Being more to a small flow than to a large one, it makes flows equal.
    public var additiveRate = BitRate.kilobits(30)
    /// How much later than predicted feedback may come before its absence means something.
    public var feedbackMargin = Duration.milliseconds(2)
    /// How often feedback is asked for: about twice a frame, while packets arrive.
    public var feedbackInterval = Duration.milliseconds(16)
    /// Frames are skipped while packets have waited this long at the sender: what is made then would be late.
    public var frameTimeout = Duration.milliseconds(200)
    /// For how long the lowest delay is remembered at least: long enough to see an empty queue, short enough for drifting
    /// clocks (100 ppm are 2 ms in twice this).
    public var baseDelayWindow = Duration.seconds(10)
    /// A queue that never got shorter than `standingDelay` for so long, whatever was sent, is not ours: the path became
    /// longer, or others fill it.
    public var standingTime = Duration.seconds(2)
    public var standingDelay = Duration.milliseconds(20)

    public init() {}

    /// The names of the parameters, for `scale`.
    public static let names = [
        "utilization", "caution", "drainTime", "memory", "interruption", "holdDelay", "pacingFactor", "growth",
        "idleAllowance", "jitterAllowance", "jitterMargin", "additiveRate",
        "additivePacingRate", "feedbackMargin", "feedbackInterval", "frameTimeout", "baseDelayWindow",
        "standingTime", "standingDelay",
    ]

    /// Multiplies the parameter with this name; returns whether there is one.
    public mutating func scale(_ name: String, by factor: Double) -> Bool {
        switch name {
        case "utilization": utilization *= factor
        case "caution": caution *= factor
        case "drainTime": drainTime = drainTime * factor
        case "memory": memory = memory * factor
        case "interruption": interruption = interruption * factor
        case "holdDelay": holdDelay = holdDelay * factor
        case "pacingFactor": pacingFactor *= factor
        case "growth": growth *= factor
        case "idleAllowance": idleAllowance *= factor
        case "jitterAllowance": jitterAllowance *= factor
        case "jitterMargin": jitterMargin *= factor
        case "additivePacingRate": additivePacingRate = additivePacingRate * factor
        case "additiveRate": additiveRate = additiveRate * factor
        case "feedbackMargin": feedbackMargin = feedbackMargin * factor
        case "feedbackInterval": feedbackInterval = feedbackInterval * factor
        case "frameTimeout": frameTimeout = frameTimeout * factor
        case "baseDelayWindow": baseDelayWindow = baseDelayWindow * factor
        case "standingTime": standingTime = standingTime * factor
        case "standingDelay": standingDelay = standingDelay * factor
        default: return false
        }
        return true
    }
}
