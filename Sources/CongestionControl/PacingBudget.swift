public import MediaCore

/// Decides when packets may leave: at the pacing rate, or at a probe's rate during a probe.
@usableFromInline
struct PacingBudget: Sendable {
    /// The interval of requests for padding.
    static let paddingInterval = Duration.milliseconds(5)
    /// The largest debt, in seconds at the rate.
    static let maximumDebt = 0.5

    /// Packets that leave within this time of each other may leave together.
    private(set) var burstInterval: Duration
    private let defaultBurstInterval: Duration
    private(set) var pacingRate = BitRate.zero
    private(set) var paddingRate = BitRate.zero
    private var prober = Prober()
    /// The data beyond the pacing rate, in bytes, at `debtTime`.
    private var debt = 0.0
    /// The same for the rate up to which padding supplements media: media counts in it.
    private var paddingDebt = 0.0
    private var debtTime: MonotonicInstant?

    @usableFromInline
    init(burstInterval: Duration) {
        self.burstInterval = burstInterval
        defaultBurstInterval = burstInterval
    }

    @usableFromInline
    mutating func setRate(_ rate: BitRate, burst: Duration?, padding: BitRate, now: MonotonicInstant) {
        updateDebt(now: now)
        pacingRate = rate
        paddingRate = padding
        burstInterval = burst ?? defaultBurstInterval
    }

    @usableFromInline
    mutating func addProbe(_ cluster: ProbeCluster, now: MonotonicInstant) {
        prober.add(cluster, now: now)
    }

    /// Returns true if a packet may leave now. It starts a waiting probe.
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

    /// The size of padding that the current probe or the padding rate needs now; zero for none.
    @usableFromInline
    mutating func paddingNeeded(now: MonotonicInstant) -> DataSize {
        guard pacingRate > .zero else { return .zero }
        prober.update(now: now)
        if !prober.hasWork, paddingRate > .zero, now >= paddingClearTime(now: now) {
            return max(paddingRate.dataSize(over: Self.paddingInterval), DataSize(bytes: 1))
        }
        guard prober.needsPackets, let time = prober.nextSendTime, now >= time else { return .zero }
        return max(prober.remainingSize, DataSize(bytes: 1))
    }

    /// True if padding is needed, now or later.
    @usableFromInline
    var wantsPadding: Bool { pacingRate > .zero && (prober.hasWork || paddingRate > .zero) }

    /// The time at which padding is needed, if nothing else waits.
    @usableFromInline
    func nextPaddingTime(now: MonotonicInstant) -> MonotonicInstant {
        prober.hasWork ? nextSendTime(now: now) : max(paddingClearTime(now: now), now)
    }

    /// The time at which the next packet may leave.
    @usableFromInline
    func nextSendTime(now: MonotonicInstant) -> MonotonicInstant {
        if let probeTime = prober.nextSendTime { return max(probeTime, now) }
        return prober.hasWork ? now : max(debtClearTime(now: now), now)
    }

    /// The time at which the debt is small enough for the next packet.
    private func debtClearTime(now: MonotonicInstant) -> MonotonicInstant {
        guard pacingRate > .zero else { return .distantFuture }
        guard let debtTime else { return now }
        let owed = pacingRate.duration(for: DataSize(bytes: debt.rounded(.up)))
        return debtTime + owed - burstInterval
    }

    /// The time at which the padding rate has covered all data that left.
    private func paddingClearTime(now: MonotonicInstant) -> MonotonicInstant {
        guard paddingRate > .zero else { return .distantFuture }
        guard let debtTime else { return now }
        return debtTime + paddingRate.duration(for: DataSize(bytes: paddingDebt.rounded(.up)))
    }

    private mutating func updateDebt(now: MonotonicInstant) {
        if let debtTime, now > debtTime {
            let elapsed = (now - debtTime).seconds
            debt = max(0, debt - Double(pacingRate.bitsPerSecond) / 8 * elapsed)
            paddingDebt = max(0, paddingDebt - Double(paddingRate.bitsPerSecond) / 8 * elapsed)
        }
        debtTime = max(debtTime ?? now, now)
    }

    private mutating func addDebt(_ size: DataSize, now: MonotonicInstant) {
        updateDebt(now: now)
        // A probe above the pacing rate may leave a debt; it must not hold media back for long.
        debt = Self.debt(debt, and: size, at: pacingRate)
        paddingDebt = Self.debt(paddingDebt, and: size, at: paddingRate)
    }

    private static func debt(_ debt: Double, and size: DataSize, at rate: BitRate) -> Double {
        let limit = Double(rate.bitsPerSecond) / 8 * maximumDebt
        return min(debt + Double(size.bytes), max(limit, Double(size.bytes)))
    }
}
