import MediaCore

/// Distinguishes losses by congestion from losses that happen anyway.
///
/// If a queue overflows, packets get lost while delay is high, and delay control reacts, unless the queue is so short
/// that its delay means little: then less of the capacity is used until losses stop. If delay did not move and much
/// gets lost, a policer may drop packets beyond its rate: the rate falls to the rate of arrivals, and stays there if
/// that helped. If it did not help although senders kept to it, the loss is the link's and is accepted.
struct LossClassifier: Sendable {
    /// The least number of packets that are judged.
    private static let minimumPacketCount = 20
    /// The part of the losses that a bound must prevent to be kept.
    private static let helpingPart = 0.3
    /// The rate, as a part of a bound, above which the bound is used.
    private static let usedPart = 0.5
    /// The rate, as a part of a bound, up to which senders keep to it.
    private static let keptPart = 1.3
    /// A bound that has grown to more than this, as a part of what it was, may not be needed any more.
    private static let nearPart = 1.25

    /// The part of the difference by which the loss that is accepted falls in an interval with less: where losses come
    /// in bursts, single intervals say little.
    private static let acceptedPart = 0.1

    private let shared: SharedParameters
    private var parameters: ConfrelayParameters { shared.values }
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
    /// Packets that were sent before this, when senders did not keep to the bound yet, do not tell whether it helps.
    private var countingStart: MonotonicInstant?
    private var packets = 0
    private var lost = 0
    private var sentBytes = 0.0
    private var receivedBytes = 0.0
    private var waits = 0.0
    private var waitsBesideLoss = 0.0
    private var lossesPlaced = 0
    private var isAfterLoss = false
    private var lastWait = 0.0
    private var lossBeforeBound = 0.0
    /// The bound before it grew.
    private var lowestBound = 0.0
    private var excessiveIntervals = 0

    init(_ shared: SharedParameters) {
        let parameters = shared.values
        self.shared = shared
        overflowDelay = parameters.overflowDelay.seconds
    }

    /// A packet arrived after it had waited, in seconds.
    mutating func received(_ packet: SentPacket, wait: Double) {
        guard count(packet) else { return }
        receivedBytes += Double(packet.size.bytes)
        waits += wait
        lastWait = wait
        if isAfterLoss { place(wait) }
        isAfterLoss = false
    }

    mutating func lost(_ packet: SentPacket) {
        guard count(packet) else { return }
        lost += 1
        if !isAfterLoss { place(lastWait) }
        isAfterLoss = true
    }

    /// Records that a packet that had been reported missing arrived. Its loss stays if it came as a repair. Its wait
    /// says nothing about the queue in both cases.
    mutating func found(_ packet: SentPacket, isRepair: Bool) {
        guard isCounted(packet) else { return }
        if !isRepair { lost = max(lost - 1, 0) }
        receivedBytes += Double(packet.size.bytes)
    }

    private mutating func count(_ packet: SentPacket) -> Bool {
        guard isCounted(packet) else { return false }
        packets += 1
        sentBytes += Double(packet.size.bytes)
        return true
    }

    private func isCounted(_ packet: SentPacket) -> Bool { countingStart.map { packet.sendTime >= $0 } ?? true }

    /// Judges the losses when enough was counted.
    mutating func update(now: MonotonicInstant) {
        guard let start = intervalStart else {
            // After the bound fell, the interval begins behind the first packets that count.
            if countingStart == nil || packets > 0 { beginInterval(now: now) }
            return
        }
        guard now - start >= parameters.lossInterval, packets >= Self.minimumPacketCount else { return }
        let time = (now - start).seconds
        fractionLost = Double(lost) / Double(packets)
        let (arriving, sent) = (receivedBytes / time, sentBytes / time)
        let meanWait = waits / Double(max(packets - lost, 1))
        let waitBesideLoss = lossesPlaced > 0 ? waitsBesideLoss / Double(lossesPlaced) : 0
        if lost > 1, waitBesideLoss > meanWait * parameters.overflowRatio, waitBesideLoss > meanWait + overflowDelay {
            use = max(use - parameters.overflowBackoff * fractionLost, parameters.overflowUse)
        } else {
            use = min(use + parameters.overflowRecovery * time, 1)
        }
        beginInterval(now: now)
        updateBound(arriving: arriving, sent: sent, now: now)
    }

    private mutating func beginInterval(now: MonotonicInstant) {
        intervalStart = now
        packets = 0
        lost = 0
        sentBytes = 0
        receivedBytes = 0
        waits = 0
        waitsBesideLoss = 0
        lossesPlaced = 0
    }

    private mutating func updateBound(arriving: Double, sent: Double, now: MonotonicInstant) {
        let excess = fractionLost - unavoidableLoss
        if excess <= parameters.policedLoss / 2 {
            excessiveIntervals = 0
            let fall = max(unavoidableLoss - fractionLost - parameters.policedLoss / 2, 0)
            unavoidableLoss -= fall * Self.acceptedPart
            if let current = bound { grow(current, arriving: arriving) }
        } else if let current = bound, sent > current * Self.usedPart {
            excessiveIntervals = 0
            // Losses beyond the bound do not tell whether it helps.
            guard sent <= current * Self.keptPart else { return }
            if fractionLost > lossBeforeBound * (1 - Self.helpingPart) {
                // Sending less did not help: it is lost anyway.
                unavoidableLoss = fractionLost
                bound = nil
            } else {
                setBound(arriving, now: now)
            }
        } else if excess > parameters.policedLoss {
            // Once may be an interruption that emptied a queue.
            excessiveIntervals += 1
            guard excessiveIntervals > 1 else { return }
            excessiveIntervals = 0
            lossBeforeBound = fractionLost
            setBound(arriving, now: now)
        } else {
            excessiveIntervals = 0
        }
    }

    private mutating func setBound(_ rate: Double, now: MonotonicInstant) {
        bound = rate
        lowestBound = rate
        countingStart = now + parameters.boundDelay
        intervalStart = nil
    }

    private mutating func grow(_ current: Double, arriving: Double) {
        let isNearLosses = current < lowestBound * Self.nearPart
        bound = current * (isNearLosses ? parameters.boundGrowth : parameters.boundRecovery)
        // The minimum rate, which is far more, arrives, or far less was sent while the bound doubled.
        if current * 2 < arriving || current > max(arriving, lowestBound) * 2 { bound = nil }
    }

    private mutating func place(_ wait: Double) {
        waitsBesideLoss += wait
        lossesPlaced += 1
    }
}
