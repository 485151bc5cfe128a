public import MediaCore

/// The constants of `ConfrelayCongestionController`. The defaults are for use; other values are for measurements of
/// their influence (the table is in `Simulations/results/sensitivity.md`).
public struct ConfrelayParameters: Hashable, Sendable {
    // MARK: The rate

    /// The part of the capacity that is used if it never varies.
    public var utilization = 1.0
    /// The reduction of use when predictions of the capacity are wrong by their own size on average.
    public var caution = 0.5
    /// A queue that takes this long to drain reduces sending to the minimum: about a frame, so that the next frame
    /// finds room again.
    public var drainTime = Duration.milliseconds(25)
    /// The rate added to the allowed part of the capacity, at a capacity of 1 Mbit/s; it grows with the square root of
    /// the capacity. Small flows gain more from it than large ones, which makes flows equal.
    public var additiveRate = BitRate.kilobits(90)

    // MARK: The capacity

    /// The busy time from which the capacity is measured: a frame or two.
    public var memory = Duration.milliseconds(50)
    /// The additional busy time, as a multiple of the jitter, which shifts both ends of the measurement.
    public var jitterMemory = 7.0
    /// The weight of the initial rate, as busy time: it is a guess and yields to the first trains.
    public var startMemory = Duration.milliseconds(10)
    /// The limit of a wait between two packets that counts against the capacity, unless the link takes as long for a
    /// packet. A longer wait is an interruption, and the earlier rate returns when it ends.
    public var interruption = Duration.milliseconds(80)
    /// The relative growth of the estimated capacity each second while nothing queues.
    public var growth = 1.0
    /// The part of the target that must be sent for the capacity to grow without a measurement.
    public var usedPart = 0.7
    /// The limit of the estimated capacity, as a multiple of the maximum rate. An estimate above the maximum makes
    /// frames leave sooner. A still higher one would only take longer to fall.
    public var headroom = 3.0
    /// The time that a packet on an idle link may take, as a multiple of its time at the capacity, before the rest
    /// counts against the capacity.
    public var idleAllowance = 1.0
    /// The rate of a burst when feedback is first heard, in times of the rate to start with: frames of the first rate
    /// are too small to be trains.
    public var startProbe = 6.0

    // MARK: Pacing and the window

    /// The pacing rate over the capacity: how fast packets of a frame leave, and so how much more capacity than known
    /// a frame can reveal.
    public var pacingFactor = 1.15
    /// The pacing rate beyond that: small frames are trains as well, and of two flows the smaller one learns relatively
    /// more.
    public var additivePacingRate = BitRate.kilobits(750)
    /// A predicted queueing delay above this stops all that is paced.
    public var holdDelay = Duration.milliseconds(60)
    /// The size that may always be in flight: two packets, because without them there is no feedback.
    public var leastWindow = DataSize(bytes: 2400)
    /// If the path takes longer than this for `leastWindow`, less may be in flight, at least a packet.
    public var leastWindowTime = Duration.milliseconds(150)

    /// The limit of our queue on the path, at the rate of arrivals, whatever else the model says: two such queues,
    /// there and back, end a conversation.
    public var ownQueue = Duration.seconds(1)

    // MARK: The start

    /// The slowest path on which our queue keeps within `ownQueue` before anything is heard: it carries audio and
    /// little more.
    public var slowestPath = BitRate.kilobits(60)
    /// The most data that may leave at once before the first feedback: as much as the slowest path carries in this
    /// time. Audio, which nothing holds, comes on top until then.
    public var startQueue = Duration.milliseconds(300)
    /// After this time without feedback and reports, the receiver is thought to send no feedback, and nothing is held.
    public var startPatience = Duration.seconds(2)

    // MARK: Paths slower than the minimum rate

    /// Frames are skipped while packets have waited this long at the sender and the path carries less than the minimum
    /// rate: frames that cannot be smaller must be rarer, and each frame then finds room.
    public var slowFrameTimeout = Duration.milliseconds(30)

    /// A path that carries less than this part of the minimum rate is sent no video: fewer frames a second than a third
    /// of the encoder's are no video to most.
    public var pausePart = 0.5
    /// The time for which the path must carry so little before video pauses.
    public var pausePatience = Duration.seconds(2)
    /// The duration of a pause before video is tried again.
    public var pauseInterval = Duration.seconds(5)
    /// The duration of a trial of video after a pause, in addition to the time until feedback on it comes.
    public var pauseTrial = Duration.milliseconds(300)

    // MARK: Jitter

    /// The step of the running median with each packet: some hundred packets, ten seconds, span a usual range.
    public var jitterStep = Duration.microseconds(100)
    /// Its first step, which shrinks with the number of packets until it is the step above.
    public var firstJitterStep = Duration.milliseconds(5)
    /// The part of a predicted queue that counts as jitter, as a multiple of the median jitter.
    public var jitterAllowance = 0.75
    /// The tolerated delay of feedback, as a multiple of the median jitter, before its absence means something.
    public var jitterMargin = 1.5
    /// The additional wait of a packet after the one ahead of it has gone, as a multiple of the median jitter, that
    /// proves a queue.
    public var busyJitter = 0.4

    // MARK: Predictability

    /// The weight of a new error of prediction: an average over some two seconds.
    public var errorWeight = 0.02
    /// An error of prediction that the noise of measuring makes on a steady link.
    public var errorNoise = 0.1

    // MARK: Feedback and silence

    /// The interval of feedback: about twice a frame, while packets arrive.
    public var feedbackInterval = Duration.milliseconds(16)
    /// The tolerated delay of feedback after its predicted time: the precision with which both clocks are read.
    public var feedbackMargin = Duration.milliseconds(2)
    /// The factor by which each feedback reduces the tolerance for late feedback: half of it is gone after a second.
    public var toleranceRemainder = 0.99
    /// After this time without feedback single packets leave, to find whether the path is back.
    public var silence = Duration.milliseconds(500)
    /// The time between two such packets.
    public var keepAliveInterval = Duration.milliseconds(100)
    /// The part of the capacity that such packets may take: they all queue if the path only stands still.
    public var keepAlivePart = 0.1

    // MARK: The delay of the empty path

    /// The least time for which the lowest delay is remembered: long enough to see an empty queue, short enough for
    /// drifting clocks (100 ppm are 2 ms in twice this).
    public var baseDelayWindow = Duration.seconds(10)
    /// A delay within this of the lowest one counts as the base.
    public var baseDelayTolerance = Duration.milliseconds(5)
    /// If the base was not seen for this part of the window, sending pauses to see it before it is forgotten and a
    /// standing queue becomes the new base.
    public var baseDelayAge = 0.8
    /// The duration of a pause to see the empty path, in addition to a round trip: one of several flows drains its
    /// share of a queue in this time.
    public var probeLength = Duration.milliseconds(300)
    /// A queue that never got shorter than `standingDelay` for this time, whatever was sent, is not ours: the path
    /// became longer, or others fill it.
    public var standingTime = Duration.seconds(2)
    public var standingDelay = Duration.milliseconds(20)
    /// The largest variation of a standing delay that belongs to a longer route.
    public var routeVariation = Duration.milliseconds(20)
    /// A new base above which there is no queue for this time is no queue of others.
    public var calmTime = Duration.seconds(10)

    // MARK: Flows that fill the queue

    /// The time for which competition is assumed before a pause shows again that the queue belongs to others; twice as
    /// long after that was so.
    public var competitionBelief = Duration.seconds(10)
    /// The growth of the rate each second beside flows that fill the queue.
    public var competitionGrowth = BitRate.kilobits(100)
    /// The same as a part of the capacity, which is less on slow paths.
    public var competitionRelativeGrowth = 0.5
    /// The factor of the rate after losses, as with CUBIC (RFC 9438, 4.6).
    public var competitionBackoff = 0.7
    /// Losses closer together than this are of one congestion.
    public var competitionInterval = Duration.milliseconds(500)
    /// The additional time at the rate that may be in flight then, beyond a round trip: some frames.
    public var competitionSlack = Duration.milliseconds(100)

    // MARK: Losses

    /// The interval over which losses are counted.
    public var lossInterval = Duration.seconds(1)
    /// The loss fraction beyond the link's usual losses above which a bound applies: more than radio links lose.
    public var policedLoss = 0.1
    /// A queue is overflowing where packets next to lost ones waited longer than others by this time.
    public var overflowDelay = Duration.milliseconds(3)
    /// A queue is overflowing where packets next to lost ones waited this many times as long as others.
    public var overflowRatio = 1.3
    /// The reduction of the use of capacity, as a multiple of the fraction lost to overflow.
    public var overflowBackoff = 1.0
    /// The part of that use that returns each second.
    public var overflowRecovery = 0.01
    /// The least that the use of the capacity falls to by overflow.
    public var overflowUse = 0.6
    /// A bound that helps is raised by this factor each interval, to find when it is needed no more.
    public var boundGrowth = 1.03
    /// The same once it has grown by a quarter.
    public var boundRecovery = 1.1
    /// The time after which the packets that are sent keep to a new bound: frames in the encoder and the pacer leave.
    public var boundDelay = Duration.milliseconds(300)

    // MARK: Marks (ECN)

    /// The weight of a round trip's fraction of marked packets in its average, as in RFC 8257, 3.3.
    public var markWeight = 1.0 / 16
    /// The factor of the rate after a mark on packets sent with ECT(0) (RFC 8511, 3.1).
    public var classicMarkBackoff = 0.85

    public init() {}
}

/// The parameters of one controller. The controller, its parts and all copies of them refer to one object: reading a
/// part copies it, and the parameters would be most of the copy.
final class SharedParameters: Sendable {
    let values: ConfrelayParameters

    init(_ values: ConfrelayParameters) { self.values = values }
}
