import MediaCore

/// Tells loss that comes of sending too much from loss that happens anyway.
///
/// Where a queue overflows, packets get lost while delay is high, and delay takes care of it, unless the queue is so
/// short that its delay means little: then less of the capacity is used until losses stop. Where delay did not move and
/// much gets lost, a policer may drop what exceeds its rate: the rate falls to what arrives, and stays there if that
/// helped. If it did not, the loss is the link's, and is borne.
struct LossClassifier: Sendable {
    /// How long losses are counted before they are judged, and the fewest packets to judge.
    static let interval = Duration.seconds(1)
    static let minimumPacketCount = 20
    /// Losses beyond what the link is known to lose anyway that call for a bound.
    static let policedLoss = 0.1
    /// A queue is overflowing where packets next to lost ones waited so much longer than others, in seconds…
    static let overflowDelay = 0.003
    /// …and by this part longer.
    static let overflowRatio = 1.3
    /// By how much of the fraction lost to overflow the use of the capacity falls, how slowly it returns per second, and
    /// how far it may fall.
    static let backoff = 1.0
    static let recovery = 0.01
    static let leastUse = 0.6
    /// A bound that helps is raised by this factor each interval, to find when it is needed no more.
    static let probeFactor = 1.05

    /// The last fraction lost.
    private(set) var fractionLost = 0.0
    /// What losses allow, in bytes per second; nil for no bound.
    private(set) var bound: Double?
    /// The part of the capacity that losses allow to use.
    private(set) var use = 1.0
    /// What gets lost however little is sent.
    private var unavoidableLoss = 0.0

    private var intervalStart: MonotonicInstant?
    private var packets = 0
    private var lost = 0
    private var receivedBytes = 0.0
    private var waits = 0.0
    private var waitsBesideLoss = 0.0
    private var lossesPlaced = 0
    private var isAfterLoss = false
    private var lastWait = 0.0
    private var lossBeforeBound = 0.0
    private var excessiveIntervals = 0

    mutating func received(bytes: Double, wait: Double) {
        packets += 1
        receivedBytes += bytes
        waits += wait
        lastWait = wait
        if isAfterLoss { place(wait) }
        isAfterLoss = false
    }

    mutating func lostPacket() {
        packets += 1
        lost += 1
        if !isAfterLoss { place(lastWait) }
        isAfterLoss = true
    }

    /// A packet that had been called lost came late.
    mutating func foundPacket() {
        lost = max(lost - 1, 0)
    }

    /// Judges the losses when enough was counted.
    mutating func update(now: MonotonicInstant) {
        let start = intervalStart ?? now
        intervalStart = start
        guard now - start >= Self.interval, packets >= Self.minimumPacketCount else { return }
        let time = (now - start).seconds
        fractionLost = Double(lost) / Double(packets)
        let meanWait = waits / Double(max(packets - lost, 1))
        let waitBesideLoss = lossesPlaced > 0 ? waitsBesideLoss / Double(lossesPlaced) : 0
        if lost > 1, waitBesideLoss > meanWait * Self.overflowRatio, waitBesideLoss > meanWait + Self.overflowDelay {
            use = max(use - Self.backoff * fractionLost, Self.leastUse)
        } else {
            use = min(use + Self.recovery * time, 1)
        }
        updateBound(arriving: receivedBytes / time)
        intervalStart = now
        packets = 0
        lost = 0
        receivedBytes = 0
        waits = 0
        waitsBesideLoss = 0
        lossesPlaced = 0
    }

    private mutating func updateBound(arriving: Double) {
        let excess = fractionLost - unavoidableLoss
        if let current = bound {
            if excess <= Self.policedLoss / 2 {
                bound = current * Self.probeFactor
                if fractionLost < Self.policedLoss / 10, current > arriving * 2 { bound = nil }
            } else if fractionLost > lossBeforeBound * 0.7 {
                // Sending less did not help: it is lost anyway.
                unavoidableLoss = fractionLost
                bound = nil
            } else {
                bound = arriving
            }
        } else if excess > Self.policedLoss {
            // Once may be an interruption that emptied a queue.
            excessiveIntervals += 1
            guard excessiveIntervals > 1 else { return }
            excessiveIntervals = 0
            lossBeforeBound = fractionLost
            bound = arriving
        } else {
            excessiveIntervals = 0
            unavoidableLoss = min(unavoidableLoss, fractionLost + Self.policedLoss / 2)
        }
    }

    private mutating func place(_ wait: Double) {
        waitsBesideLoss += wait
        lossesPlaced += 1
    }
}
