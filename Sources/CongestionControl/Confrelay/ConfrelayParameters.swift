public import MediaCore

/// The constants of `ConfrelayCongestionController`. The defaults are what it is meant to run with; that they can be
/// changed is for measuring how much depends on each (`docs/rate-control.md` has the table).
public struct ConfrelayParameters: Hashable, Sendable {
    // MARK: The rate

    /// The part of the capacity that is used where it never varies.
    public var utilization = 1.0
    /// How much less is used where predictions of the capacity are wrong by their own size on average.
    public var caution = 0.5
    /// A queue that takes this long to drain stops sending but for the minimum: about a frame, so that the next frame
    /// finds room again.
    public var drainTime = Duration.milliseconds(25)
    /// What is sent beyond the part of the capacity that delay allows, at a capacity of 1 Mbit/s; it goes with the
    /// square root of the capacity. Being more to a small flow than to a large one, it makes flows equal.
    public var additiveRate = BitRate.kilobits(90)

    // MARK: The capacity

    /// How long a busy link is looked at to know its capacity: a frame or two.
    public var memory = Duration.milliseconds(50)
    /// By how many times the jitter it is looked at longer: jitter shifts both ends of what is looked at.
    public var jitterMemory = 7.0
    /// How long a look the rate to start with counts as: it is a guess, and yields to the first trains.
    public var startMemory = Duration.milliseconds(10)
    /// A longer wait between two packets is an interruption: only so much of it counts against the capacity, so that
    /// the rate of before is there again when it ends.
    public var interruption = Duration.milliseconds(80)
    /// By how much of itself the estimate of the capacity grows each second while nothing queues.
    public var growth = 1.0
    /// Growth without measurement needs sending at this part of the target at least: what is not used is not tried.
    public var usedPart = 0.7
    /// So many times the maximum the path may be thought to carry: a margin for its falls, not for growth unused.
    public var headroom = 1.5
    /// What a packet that found the link idle may take to get through, in times that the capacity says, before the rest
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
    /// However little the path carries, so much may be in flight: two packets, as without them there is no feedback.
    public var leastWindow = DataSize(bytes: 2400)
    /// Less may be in flight, a packet at least, where the path takes longer than this for it.
    public var leastWindowTime = Duration.milliseconds(150)
    /// Frames are skipped while packets have waited this long at the sender: what is made then would be late.
    public var frameTimeout = Duration.milliseconds(200)

    /// What of ours queues on the path takes no longer than this at the rate that arrives, whatever else is believed of
    /// the path: two such queues, there and back, end a conversation.
    public var ownQueue = Duration.seconds(1)

    // MARK: Paths slower than the minimum rate

    /// Frames are skipped while packets have waited this long at the sender, and the path carries less than the minimum
    /// rate: what cannot be smaller must be rarer, and each frame then finds room.
    public var slowFrameTimeout = Duration.milliseconds(30)

    /// A path that carries less than this part of the minimum rate is sent no video: fewer frames a second than a third
    /// of the encoder's are no video to most.
    public var pausePart = 0.5
    /// For how long the path must carry so little before video pauses.
    public var pausePatience = Duration.seconds(2)
    /// How long a pause lasts before video is tried again.
    public var pauseInterval = Duration.seconds(5)
    /// How long video is tried after a pause, besides the time until feedback on it comes.
    public var pauseTrial = Duration.milliseconds(300)

    // MARK: Jitter

    /// The step of the running median with each packet: some hundred packets, ten seconds, span a usual range.
    public var jitterStep = Duration.microseconds(100)
    /// Its first step, which shrinks with the number of packets until it is the step above.
    public var firstJitterStep = Duration.milliseconds(5)
    /// How much of a predicted queue is taken for jitter, in times of its median.
    public var jitterAllowance = 0.75
    /// By how many times the median jitter feedback may come later than predicted before its absence means something.
    public var jitterMargin = 1.5
    /// By how many times the median jitter a packet must have waited longer than the packet ahead of it is gone, before
    /// it is taken to have found a queue.
    public var busyJitter = 0.4

    // MARK: Predictability

    /// The weight of a new error of prediction: an average over some two seconds.
    public var errorWeight = 0.02
    /// An error of prediction that the noise of measuring makes on a steady link.
    public var errorNoise = 0.1

    // MARK: Feedback and silence

    /// How often feedback is asked for: about twice a frame, while packets arrive.
    public var feedbackInterval = Duration.milliseconds(16)
    /// How much later than predicted feedback may come before its absence means something: the clocks of both ends are
    /// read about so exactly.
    public var feedbackMargin = Duration.milliseconds(2)
    /// What remains, with each feedback, of the silence that is borne because feedback was late by itself: half of it
    /// is gone after a second.
    public var toleranceRemainder = 0.99
    /// After this time without feedback single packets leave, to find whether the path is back.
    public var silence = Duration.milliseconds(500)
    /// The time between two such packets.
    public var keepAliveInterval = Duration.milliseconds(100)
    /// The part of the capacity that such packets may take: they all queue if the path only stands still.
    public var keepAlivePart = 0.1

    // MARK: The delay of the empty path

    /// For how long the lowest delay is remembered at least: long enough to see an empty queue, short enough for
    /// drifting clocks (100 ppm are 2 ms in twice this).
    public var baseDelayWindow = Duration.seconds(10)
    /// The lowest delay is seen again by what comes within this of it.
    public var baseDelayTolerance = Duration.milliseconds(5)
    /// When it was not seen for this part of the window, sending pauses to see it: before it is forgotten, and a queue
    /// that stays becomes the new base.
    public var baseDelayAge = 0.8
    /// For how long, and a round trip, sending pauses to see the empty path: what of a queue a flow of several fills in
    /// its share of this is gone.
    public var probeLength = Duration.milliseconds(300)
    /// A queue that never got shorter than `standingDelay` for so long, whatever was sent, is not ours: the path became
    /// longer, or others fill it.
    public var standingTime = Duration.seconds(2)
    public var standingDelay = Duration.milliseconds(20)
    /// A standing delay that varies by no more than this is that of a longer route.
    public var routeVariation = Duration.milliseconds(20)
    /// A new base that stays so long without a queue above it is no others' queue.
    public var calmTime = Duration.seconds(10)

    // MARK: Flows that fill the queue

    /// For how long they are believed in before a pause shows again that the queue is theirs; and twice as long once it
    /// was.
    public var competitionBelief = Duration.seconds(10)
    /// How much the rate grows each second beside flows that fill the queue.
    public var competitionGrowth = BitRate.kilobits(100)
    /// The same as a part of the capacity, which is less on slow paths.
    public var competitionRelativeGrowth = 0.5
    /// What remains of the rate after losses, as with CUBIC (RFC 9438, 4.6).
    public var competitionBackoff = 0.7
    /// Losses closer together than this are of one congestion.
    public var competitionInterval = Duration.milliseconds(500)
    /// What may be in flight then, beyond what the rate carries in a round trip: some frames.
    public var competitionSlack = Duration.milliseconds(100)

    // MARK: Losses

    /// How long losses are counted before they are judged.
    public var lossInterval = Duration.seconds(1)
    /// Losses beyond what the link is known to lose anyway that call for a bound: more than radio links lose.
    public var policedLoss = 0.1
    /// A queue is overflowing where packets next to lost ones waited longer than others by this time.
    public var overflowDelay = Duration.milliseconds(3)
    /// A queue is overflowing where packets next to lost ones waited this many times as long as others.
    public var overflowRatio = 1.3
    /// By how much of the fraction lost to overflow the use of the capacity falls.
    public var overflowBackoff = 1.0
    /// How much of that use returns each second.
    public var overflowRecovery = 0.01
    /// The least that the use of the capacity falls to by overflow.
    public var overflowUse = 0.6
    /// A bound that helps is raised by this factor each interval, to find when it is needed no more.
    public var boundGrowth = 1.05

    // MARK: Marks (ECN)

    /// The weight of a round trip's fraction of marked packets in its average, as in RFC 8257, 3.3.
    public var markWeight = 1.0 / 16
    /// What remains of the rate when packets sent with ECT(0) come back marked (RFC 8511, 3.1).
    public var classicMarkBackoff = 0.85

    public init() {}
}
