import MediaCore

/// Distinguishes losses by congestion from losses that happen anyway.
///
/// If a queue overflows, packets get lost while delay is high, and delay control reacts, unless the queue is so short
/// that its delay means little: then less of the capacity is used until losses stop. If delay did not move and much
/// gets lost, a policer may drop packets beyond its rate: the rate falls to the rate of arrivals, and stays there if
/// that helped. If it did not help, the loss is the link's and is accepted.
struct LossClassifier: Sendable {
    /// The least number of packets that are judged.
    private static let minimumPacketCount = 20
    /// The part of the losses that a bound must prevent to be kept.
    private static let helpingPart = 0.3

    private let parameters: ConfrelayParameters
    private let overflowDelay: Double

    /// The last fraction lost.
    private(set) var fractionLost = 0.0
    /// The bound by losses, in bytes per second; nil for none.
    private(set) var bound: Double?
    /// The part of the capacity that losses allow to use.
    private(set) var use = 1.0
    /// The loss that does not depend on the rate.
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

    init(parameters: ConfrelayParameters) {
        self.parameters = parameters
        overflowDelay = parameters.overflowDelay.seconds
    }

    /// A packet arrived after it had waited so long, in seconds.
    mutating func received(bytes: Double, wait: Double) {
        packets += 1
        receivedBytes += bytes
        waits += wait
        lastWait = wait
        if isAfterLoss { place(wait) }
        isAfterLoss = false
    }

    /// A packet is missing.
    mutating func lostPacket() {
        packets += 1
        lost += 1
        if !isAfterLoss { place(lastWait) }
        isAfterLoss = true
    }

    /// Records that a packet that had been reported missing arrived. Its loss stays if it came as a repair. Its wait
    /// says nothing about the queue in both cases.
    mutating func foundPacket(bytes: Double, isRepair: Bool) {
        if !isRepair { lost = max(lost - 1, 0) }
        receivedBytes += bytes
    }

    /// Judges the losses when enough was counted.
    mutating func update(now: MonotonicInstant) {
        let start = intervalStart ?? now
        intervalStart = start
        guard now - start >= parameters.lossInterval, packets >= Self.minimumPacketCount else { return }
        let time = (now - start).seconds
        fractionLost = Double(lost) / Double(packets)
        let meanWait = waits / Double(max(packets - lost, 1))
        let waitBesideLoss = lossesPlaced > 0 ? waitsBesideLoss / Double(lossesPlaced) : 0
        if lost > 1, waitBesideLoss > meanWait * parameters.overflowRatio, waitBesideLoss > meanWait + overflowDelay {
            use = max(use - parameters.overflowBackoff * fractionLost, parameters.overflowUse)
        } else {
            use = min(use + parameters.overflowRecovery * time, 1)
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
            if excess <= parameters.policedLoss / 2 {
                bound = current * parameters.boundGrowth
                // Far less is sent, or the minimum rate, which is far more, arrives: nothing is bounded.
                let isVoid = current > arriving * 2 || current * 2 < arriving
                if fractionLost < parameters.policedLoss / 10, isVoid { bound = nil }
            } else if fractionLost > lossBeforeBound * (1 - Self.helpingPart) {
                // Sending less did not help: it is lost anyway.
                unavoidableLoss = fractionLost
                bound = nil
            } else {
                bound = arriving
            }
        } else if excess > parameters.policedLoss {
            // Once may be an interruption that emptied a queue.
            excessiveIntervals += 1
            guard excessiveIntervals > 1 else { return }
            excessiveIntervals = 0
            lossBeforeBound = fractionLost
            bound = arriving
        } else {
            excessiveIntervals = 0
            unavoidableLoss = min(unavoidableLoss, fractionLost + parameters.policedLoss / 2)
        }
    }

    private mutating func place(_ wait: Double) {
        waitsBesideLoss += wait
        lossesPlaced += 1
    }
}
