public import MediaCore

/// When packets may leave, whatever they are: at the pacing rate, or at a probe's rate while one is under way.
@usableFromInline
struct PacingBudget: Sendable {
    /// Packets that leave within this time of each other may leave together.
    private(set) var burstInterval: Duration
    private let defaultBurstInterval: Duration
    private(set) var pacingRate = BitRate.zero
    private var prober = Prober()
    /// What left but the pacing rate did not cover yet, in bytes, at `debtTime`.
    private var debt = 0.0
    private var debtTime: MonotonicInstant?

    @usableFromInline
    init(burstInterval: Duration) {
        self.burstInterval = burstInterval
        defaultBurstInterval = burstInterval
    }

    @usableFromInline
    mutating func setRate(_ rate: BitRate, burst: Duration?, now: MonotonicInstant) {
        updateDebt(now: now)
        pacingRate = rate
        burstInterval = burst ?? defaultBurstInterval
    }

    @usableFromInline
    mutating func addProbe(_ cluster: ProbeCluster, now: MonotonicInstant) {
        prober.add(cluster, now: now)
    }

    /// Whether a packet may leave now. Starts a probe that waits.
    @usableFromInline
    mutating func allowsPacket(now: MonotonicInstant) -> Bool {
        prober.update(now: now)
        return now >= (prober.nextSendTime ?? debtClearTime(now: now))
    }

    /// A packet leaves. Returns the probe cluster that it belongs to, if any.
    @usableFromInline
    mutating func spend(_ size: DataSize, now: MonotonicInstant) -> Int? {
        let cluster = prober.activeClusterID
        if cluster != nil { prober.packetSent(size: size, now: now) }
        addDebt(size, now: now)
        return cluster
    }

    /// How much padding the probe under way wants now; zero when it wants none.
    @usableFromInline
    mutating func paddingNeeded(now: MonotonicInstant) -> DataSize {
        guard pacingRate > .zero else { return .zero }
        prober.update(now: now)
        guard prober.needsPackets, let time = prober.nextSendTime, now >= time else { return .zero }
        return max(prober.remainingSize, DataSize(bytes: 1))
    }

    /// Whether a probe is under way or waits, for which padding can be sent.
    @usableFromInline
    var wantsPadding: Bool { prober.hasWork && pacingRate > .zero }

    /// When the next packet may leave.
    @usableFromInline
    func nextSendTime(now: MonotonicInstant) -> MonotonicInstant {
        if let probeTime = prober.nextSendTime { return max(probeTime, now) }
        return prober.hasWork ? now : max(debtClearTime(now: now), now)
    }

    /// When the debt is small enough for the next packet.
    private func debtClearTime(now: MonotonicInstant) -> MonotonicInstant {
        guard pacingRate > .zero else { return .distantFuture }
        guard let debtTime else { return now }
        let owed = pacingRate.duration(for: DataSize(bytes: debt.rounded(.up)))
        return debtTime + owed - burstInterval
    }

    private mutating func updateDebt(now: MonotonicInstant) {
        if let debtTime, now > debtTime {
            debt = max(0, debt - Double(pacingRate.bitsPerSecond) / 8 * (now - debtTime).seconds)
        }
        debtTime = max(debtTime ?? now, now)
    }

    private mutating func addDebt(_ size: DataSize, now: MonotonicInstant) {
        updateDebt(now: now)
        // A probe above the pacing rate may leave a debt; it must not hold media back for long.
        let limit = Double(pacingRate.bitsPerSecond) / 8 * 0.5
        debt = min(debt + Double(size.bytes), max(limit, Double(size.bytes)))
    }
}
