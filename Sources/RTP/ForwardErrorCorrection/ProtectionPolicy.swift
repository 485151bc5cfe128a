public import MediaCore

/// Decides the forward error correction of a receiver's video.
///
/// Retransmission is the cheapest repair: it costs only the lost packets. But it takes a round trip. If this exceeds
/// the time that a receiver waits before its picture stands still, packets are protected in advance, in proportion to
/// the losses. Losses by congestion do not count: more packets would make them worse.
public struct ProtectionPolicy: Sendable {
    /// Retransmissions over a longer round trip come too late.
    private static let longRoundTrip = Duration.milliseconds(130)
    /// Retransmissions over a shorter round trip come in time again.
    private static let shortRoundTrip = Duration.milliseconds(100)
    /// The loss from which protection begins.
    private static let beginningLoss = 0.01
    /// The loss below which protection ends.
    private static let endingLoss = 0.003
    /// The least number of lost packets in the window from which protection begins.
    private static let minimumLostCount = 3
    /// The most repair packets for each packet.
    private static let maximumRate = 0.5
    /// The least time for which protection lasts, and before which it is not reduced.
    private static let hold = Duration.seconds(3)
    /// After this long with a full queue on the path there is no protection, and none for as long afterwards.
    private static let congestionPatience = Duration.milliseconds(500)

    /// The present decision.
    public private(set) var protection = Protection.none
    /// The loss that is not blamed on the path's queue, over the last seconds.
    public private(set) var loss = LossMeter.Summary()
    /// The smoothed round-trip time; nil before a measurement.
    public private(set) var roundTripTime: Duration?

    private var meter = LossMeter()
    private var isSlow = false
    private var changed = MonotonicInstant.zero
    private var congestedSince: MonotonicInstant?
    private var pausedUntil = MonotonicInstant.zero

    public init() {}

    // MARK: Measurements

    /// Takes the first feedback on a packet, in the order of sending.
    ///
    /// Losses while the path's queue is full do not count.
    public mutating func packet(isLost: Bool, now: MonotonicInstant) {
        guard congestedSince == nil else { return }
        meter.add(isLost: isLost, now: now)
    }

    /// A packet that feedback had called lost came late.
    public mutating func packetFound(now: MonotonicInstant) { meter.found(now: now) }

    /// Takes a report, if there is no feedback on single packets.
    public mutating func reported(lost: Int, of packets: Int, now: MonotonicInstant) {
        guard congestedSince == nil else { return }
        meter.add(lost: lost, of: packets, now: now)
    }

    public mutating func measured(roundTripTime: Duration) {
        guard roundTripTime > .zero else { return }
        guard let smoothed = self.roundTripTime else {
            self.roundTripTime = roundTripTime
            return
        }
        self.roundTripTime = smoothed + (roundTripTime - smoothed) / 8
    }

    /// Records whether the path's queue is full: losses then come from congestion.
    public mutating func congestionChanged(isCongested: Bool, now: MonotonicInstant) {
        guard isCongested else {
            congestedSince = nil
            return
        }
        let since = congestedSince ?? now
        congestedSince = since
        if now - since >= Self.congestionPatience { pausedUntil = now + Self.congestionPatience }
    }

    // MARK: Decisions

    /// Decides again; returns true if something changed.
    ///
    /// - Parameter canRetransmit: True if the receiver can request missing packets.
    public mutating func update(canRetransmit: Bool, now: MonotonicInstant) -> Bool {
        let before = protection
        loss = meter.summary(now: now)
        if let roundTripTime {
            isSlow = roundTripTime > (isSlow ? Self.shortRoundTrip : Self.longRoundTrip)
        }
        let wanted = now >= pausedUntil && (isSlow || !canRetransmit) ? wantedProtection(now: now) : .none
        if !wanted.isActive {
            // A full queue is at once relieved; a shorter round trip or less loss may be passing.
            let isHeld = protection.isActive && now >= pausedUntil && now - changed < Self.hold
            if !isHeld { protection = .none }
        } else if wanted.rate > protection.rate * 1.25 {
            // A queue that is filling gets no additional packets.
            if congestedSince == nil { protection = wanted }
        } else if wanted.rate < protection.rate * 0.8, now - changed >= Self.hold {
            protection = wanted
        } else if wanted.burst > protection.burst {
            protection.burst = wanted.burst
            protection.pattern = wanted.pattern
        }
        guard protection != before else { return false }
        changed = now
        return true
    }

    private mutating func wantedProtection(now: MonotonicInstant) -> Protection {
        let recent = meter.recent(now: now)
        let isEnough = loss.lost >= Self.minimumLostCount && loss.fraction >= Self.beginningLoss
        guard protection.isActive ? loss.fraction >= Self.endingLoss : isEnough else { return .none }
        // A loss that grows is met at once, if there is enough to tell it from chance.
        let fraction = recent.lost >= 8 ? max(recent.fraction, loss.fraction) : loss.fraction
        let rate = min(Self.base + Self.slope * fraction, Self.maximumRate)
        let isBursty = loss.meanBurst >= Self.burstiness
        let burst = isBursty ? min(Int(clamping: (1.5 * loss.meanBurst).rounded(.up)), Self.longestBurst) : 1
        return Protection(
            rate: rate, burst: burst,
            // With this many repair packets double protection is better against bursts too.
            pattern: isBursty && rate < 0.4 ? .interleaved : .twofold,
            delay: min(max((roundTripTime ?? .milliseconds(160)) / 2, .milliseconds(60)), .milliseconds(150)))
    }

    /// The repair packets per packet, and the additional ones per loss. Measured with groups of 12 to 20 packets: about
    /// one group in fifty is then not whole at a loss of 2, 5 or 10 %.
    private static let base = 0.12
    private static let slope = 4.0
    /// The mean length from which on losses are bursts and not by chance.
    private static let burstiness = 1.5
    private static let longestBurst = 8
}
