import MediaCore

/// Times the packets of probe clusters: one cluster after the other, each at its rate.
struct Prober: Sendable {
    /// The largest number of waiting clusters; the oldest is dropped first.
    static let maximumPendingCount = 5
    /// A cluster that did not start for this time measures something that nobody asks for any more.
    static let pendingTimeout = Duration.seconds(5)
    /// A burst that falls behind its rate by more than this would measure the sender.
    static let maximumLateness = Duration.milliseconds(20)
    /// The most of one burst, whatever its controller asks for.
    static let maximumPacketCount = 10_000
    static let maximumSize = DataSize(bytes: 16 << 20)

    private struct Active {
        var cluster: ProbeCluster
        var asked: MonotonicInstant
        var start: MonotonicInstant
        var sentSize = DataSize.zero
        var sentPackets = 0
    }

    private var pending: [(cluster: ProbeCluster, asked: MonotonicInstant)] = []
    private var active: Active?

    /// The cluster that packets belong to now.
    var activeClusterID: Int? { active?.cluster.id }

    /// True if a burst is being sent or waits.
    var hasWork: Bool { active != nil || !pending.isEmpty }

    mutating func add(_ cluster: ProbeCluster, now: MonotonicInstant) {
        guard cluster.rate > .zero else { return }
        var cluster = cluster
        cluster.minimumPackets = min(cluster.minimumPackets, Self.maximumPacketCount)
        if pending.count == Self.maximumPendingCount { pending.removeFirst() }
        pending.append((cluster, now))
    }

    /// Starts a waiting burst, and abandons one that fell behind.
    mutating func update(now: MonotonicInstant) {
        if let active {
            let isLate =
                active.sentPackets > 0
                ? now > nextSendTime(of: active) + Self.maximumLateness : now - active.asked > Self.pendingTimeout
            guard isLate else { return }
            self.active = nil
        }
        pending.removeAll { now - $0.asked > Self.pendingTimeout }
        guard !pending.isEmpty else { return }
        let next = pending.removeFirst()
        active = Active(cluster: next.cluster, asked: next.asked, start: now)
    }

    /// The time of the burst's next packet; nil without a burst.
    var nextSendTime: MonotonicInstant? { active.map(nextSendTime(of:)) }

    /// The size that the burst still needs.
    var remainingSize: DataSize {
        guard let active else { return .zero }
        return max(min(active.cluster.minimumSize, Self.maximumSize) - active.sentSize, .zero)
    }

    /// True if the burst needs more packets, of any size.
    var needsPackets: Bool {
        guard let active else { return false }
        return active.sentPackets < active.cluster.minimumPackets || remainingSize > .zero
    }

    /// A packet of the burst leaves now.
    mutating func packetSent(size: DataSize, now: MonotonicInstant) {
        guard var current = active else { return }
        if current.sentPackets == 0 { current.start = now }
        current.sentSize += size
        current.sentPackets += 1
        active = current
        if !needsPackets { active = nil }
    }

    private func nextSendTime(of active: Active) -> MonotonicInstant {
        active.start + active.cluster.rate.duration(for: active.sentSize)
    }
}
