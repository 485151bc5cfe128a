public import MediaCore
internal import NIOCore

/// Lets packets out at the pacing rate: audio at once, then retransmissions, video and padding, each in the order they
/// came. While a probe is under way packets leave at the probe's rate instead.
///
/// The caller enqueues packets, calls `dequeue(now:)` until it returns nil, and comes back at `nextSendTime(now:)`:
///
///     pacer.enqueue(packet, size: size, priority: .video, now: now)
///     while let next = pacer.dequeue(now: now) { send(next.payload, probe: next.probeClusterID) }
///     if pacer.paddingNeeded(now: now) > .zero { … enqueue padding and dequeue again … }
public struct Pacer<Payload: Sendable>: Sendable {
    public typealias Priority = PacketPriority

    private struct Item {
        var payload: Payload
        var size: DataSize
        var enqueued: MonotonicInstant
    }

    /// Packets that leave within this time of each other may leave together: fewer wake-ups and system calls, and less
    /// than what the delay estimator takes for one group.
    public let burstInterval: Duration
    /// Whether the caller answers `paddingNeeded`. Where it cannot, probes wait for media and are given up when it is
    /// too little.
    public var canPad: Bool

    /// One queue for each priority, in the order of the priorities.
    private var queues: [CircularBuffer<Item>]
    private var pacingRate = BitRate.zero
    private var prober = Prober()
    /// What left but the pacing rate did not cover yet, in bytes, at `debtTime`.
    private var debt = 0.0
    private var debtTime: MonotonicInstant?

    /// The size of all that waits.
    public private(set) var queuedSize = DataSize.zero
    /// How many packets wait.
    public private(set) var queuedCount = 0

    /// Creates an empty pacer; nothing but audio leaves before `setRates`.
    public init(burstInterval: Duration = .milliseconds(5), canPad: Bool = true) {
        self.burstInterval = burstInterval
        self.canPad = canPad
        queues = PacketPriority.allCases.map { _ in CircularBuffer() }
    }

    /// The rate at which retransmissions, video and padding leave from now on.
    public mutating func setRates(pacing: BitRate, now: MonotonicInstant) {
        updateDebt(now: now)
        pacingRate = pacing
    }

    /// Sends a probe as soon as there is something to send or `paddingNeeded` is answered.
    public mutating func addProbe(_ cluster: ProbeCluster, now: MonotonicInstant) {
        prober.add(cluster, now: now)
    }

    public mutating func enqueue(
        _ payload: Payload, size: DataSize, priority: PacketPriority, now: MonotonicInstant
    ) {
        let size = max(size, .zero)
        queues[priority.rawValue].append(Item(payload: payload, size: size, enqueued: now))
        queuedSize += size
        queuedCount += 1
    }

    /// The next packet that may leave now, and the probe cluster that it belongs to; nil when none may.
    public mutating func dequeue(now: MonotonicInstant) -> (payload: Payload, probeClusterID: Int?)? {
        if let item = removeFirst(from: PacketPriority.audio.rawValue) { return (item.payload, nil) }
        guard let queue = firstPacedQueue else { return nil }
        prober.update(now: now)
        if let probeTime = prober.nextSendTime {
            guard now >= probeTime, let item = removeFirst(from: queue) else { return nil }
            let cluster = prober.activeClusterID
            prober.packetSent(size: item.size, now: now)
            addDebt(item.size, now: now)
            return (item.payload, cluster)
        }
        guard now >= debtClearTime(now: now), let item = removeFirst(from: queue) else { return nil }
        addDebt(item.size, now: now)
        return (item.payload, nil)
    }

    /// How much padding the probe under way wants now, because nothing else waits; zero when it wants none.
    ///
    /// The caller enqueues about so much as `.padding` in packets of the size that it likes, at least one.
    public mutating func paddingNeeded(now: MonotonicInstant) -> DataSize {
        guard canPad, queuedCount == 0, pacingRate > .zero else { return .zero }
        prober.update(now: now)
        guard prober.needsPackets, let time = prober.nextSendTime, now >= time else { return .zero }
        return max(prober.remainingSize, DataSize(bytes: 1))
    }

    /// How long the oldest packet has waited.
    public func queueDelay(now: MonotonicInstant) -> Duration {
        let oldest = queues.compactMap(\.first?.enqueued).min()
        return oldest.map { max(now - $0, .zero) } ?? .zero
    }

    /// How long the pacing rate takes for all that waits.
    public var expectedDrainTime: Duration {
        queuedSize == .zero ? .zero : pacingRate.duration(for: queuedSize)
    }

    /// When to call `dequeue` (and, where padding can be made, `paddingNeeded`) again; nil while nothing waits.
    public func nextSendTime(now: MonotonicInstant) -> MonotonicInstant? {
        if !queues[PacketPriority.audio.rawValue].isEmpty { return now }
        guard queuedCount > 0 || (canPad && prober.hasWork && pacingRate > .zero) else { return nil }
        if let probeTime = prober.nextSendTime { return max(probeTime, now) }
        return prober.hasWork ? now : max(debtClearTime(now: now), now)
    }

    /// Drops waiting packets, such as those of a frame that nobody can use any more; returns how many.
    @discardableResult
    public mutating func removeAll(where shouldBeRemoved: (Payload) -> Bool) -> Int {
        var removed = 0
        for index in queues.indices {
            let kept = queues[index].filter { !shouldBeRemoved($0.payload) }
            guard kept.count < queues[index].count else { continue }
            removed += queues[index].count - kept.count
            queues[index] = CircularBuffer(kept)
        }
        if removed > 0 {
            queuedCount -= removed
            queuedSize = queues.reduce(.zero) { $1.reduce($0) { $0 + $1.size } }
        }
        return removed
    }

    private var firstPacedQueue: Int? {
        queues.indices.first { $0 > PacketPriority.audio.rawValue && !queues[$0].isEmpty }
    }

    private mutating func removeFirst(from queue: Int) -> Item? {
        guard let item = queues[queue].popFirst() else { return nil }
        queuedSize -= item.size
        queuedCount -= 1
        return item
    }

    /// When the debt is small enough for the next packet.
    private func debtClearTime(now: MonotonicInstant) -> MonotonicInstant {
        guard let debtTime else { return pacingRate > .zero ? now : .distantFuture }
        guard pacingRate > .zero else { return .distantFuture }
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
