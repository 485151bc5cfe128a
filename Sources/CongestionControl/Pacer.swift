public import MediaCore
public import NIOCore

/// Releases packets at the pacing rate: audio at once, then retransmissions, video, its repair packets and padding,
/// each in their order. During a probe packets leave at the probe's rate instead.
///
/// The caller enqueues packets, calls `dequeue(now:)` until it returns nil, and comes back at `nextSendTime(now:)`:
///
///     pacer.enqueue(packet, size: size, priority: .video, now: now)
///     while let next = pacer.dequeue(now: now) { send(next.payload, probe: next.probeClusterID) }
///     if pacer.paddingNeeded(now: now) > .zero { … enqueue padding and dequeue again … }
///
/// Code that depends on the payload's type is inlinable: callers in other modules get code for their own type instead
/// of code that asks for a packet's size at run time.
public struct Pacer<Payload> {
    @usableFromInline
    struct Item {
        @usableFromInline var payload: Payload
        @usableFromInline var size: DataSize
        @usableFromInline var enqueued: MonotonicInstant

        @inlinable
        init(payload: Payload, size: DataSize, enqueued: MonotonicInstant) {
            self.payload = payload
            self.size = size
            self.enqueued = enqueued
        }
    }

    /// True if the caller answers `paddingNeeded`. If it cannot, probes wait for media and are given up when it is too
    /// little.
    public var canPad: Bool

    /// True if everything but audio waits, whatever the pacing rate: the congestion window is full.
    public var isHeld = false

    /// One queue for each priority, in the order of the priorities.
    @usableFromInline var queues: [CircularBuffer<Item>]
    @usableFromInline var budget: PacingBudget

    @usableFromInline var waitingSize = DataSize.zero
    @usableFromInline var waitingCount = 0

    /// Creates an empty pacer. Nothing but audio leaves before `setRates`.
    ///
    /// - Parameter burstInterval: Packets that would leave within this time of each other may leave together: this
    ///   saves wake-ups and system calls, and is shorter than a group of the delay estimator.
    @inlinable
    public init(burstInterval: Duration = .milliseconds(5), canPad: Bool = true) {
        self.canPad = canPad
        budget = PacingBudget(burstInterval: burstInterval)
        queues = PacketPriority.allCases.map { _ in CircularBuffer() }
    }

    public var queuedSize: DataSize { waitingSize }

    /// Sets the rate of retransmissions, video and padding, the burst that may leave at once (nil: unchanged), and the
    /// rate up to which padding supplements media.
    public mutating func setRates(
        pacing: BitRate, burst: Duration? = nil, padding: BitRate = .zero, now: MonotonicInstant
    ) {
        budget.setRate(pacing, burst: burst, padding: padding, now: now)
    }

    /// Sends a probe as soon as there is something to send or `paddingNeeded` is answered.
    public mutating func addProbe(_ cluster: ProbeCluster, now: MonotonicInstant) {
        budget.addProbe(cluster, now: now)
    }

    @inlinable
    public mutating func enqueue(
        _ payload: Payload, size: DataSize, priority: PacketPriority, now: MonotonicInstant
    ) {
        let size = max(size, .zero)
        queues[priority.rawValue].append(Item(payload: payload, size: size, enqueued: now))
        waitingSize += size
        waitingCount += 1
    }

    /// The next packet that may leave now, and the probe cluster that it belongs to; nil when none may.
    @inlinable
    public mutating func dequeue(now: MonotonicInstant) -> (payload: Payload, probeClusterID: Int?)? {
        guard waitingCount > 0 else { return nil }
        if let item = removeFirst(from: PacketPriority.audio.rawValue) { return (item.payload, nil) }
        // Audio has left; everything else is paced.
        guard !isHeld, budget.allowsPacket(now: now) else { return nil }
        for queue in PacketPriority.audio.rawValue + 1..<queues.count {
            if let item = removeFirst(from: queue) { return (item.payload, budget.spend(item.size, now: now)) }
        }
        return nil
    }

    /// The size of padding that the current probe or the padding rate needs now because nothing else waits; zero for
    /// none.
    ///
    /// The caller enqueues about this much as `.padding`, in packets of any size, at least one.
    public mutating func paddingNeeded(now: MonotonicInstant) -> DataSize {
        canPad && !isHeld && waitingCount == 0 ? budget.paddingNeeded(now: now) : .zero
    }

    /// The wait of the oldest packet.
    @inlinable
    public func queueDelay(now: MonotonicInstant) -> Duration {
        guard waitingCount > 0 else { return .zero }
        var delay = Duration.zero
        for queue in queues {
            if let oldest = queue.first { delay = max(delay, now - oldest.enqueued) }
        }
        return delay
    }

    /// The time for all waiting packets at the pacing rate.
    public var expectedDrainTime: Duration {
        waitingSize == .zero ? .zero : budget.pacingRate.duration(for: waitingSize)
    }

    /// The time of the next call to `dequeue` (and `paddingNeeded`, if padding can be made); nil while nothing waits.
    @inlinable
    public func nextSendTime(now: MonotonicInstant) -> MonotonicInstant? {
        if !queues[PacketPriority.audio.rawValue].isEmpty { return now }
        guard !isHeld, waitingCount > 0 || (canPad && budget.wantsPadding) else { return nil }
        return waitingCount > 0 ? budget.nextSendTime(now: now) : budget.nextPaddingTime(now: now)
    }

    /// Drops waiting packets, such as those of a frame that is of no use any more, and returns their number.
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
            waitingCount -= removed
            waitingSize = queues.reduce(.zero) { $1.reduce($0) { $0 + $1.size } }
        }
        return removed
    }

    @inlinable
    mutating func removeFirst(from queue: Int) -> Item? {
        guard let item = queues[queue].popFirst() else { return nil }
        waitingSize -= item.size
        waitingCount -= 1
        return item
    }
}

extension Pacer.Item: Sendable where Payload: Sendable {}

extension Pacer: Sendable where Payload: Sendable {}

/// The order in which a pacer sends packets.
public enum PacketPriority: Int, CaseIterable, Comparable, Sendable {
    /// Leaves at once: its rate is small and its delay is heard.
    case audio
    /// Fills a gap that a receiver waits for.
    case retransmission
    case video
    /// Packets that repair losses of the video before them.
    case repair
    /// A packet that only carries a probe.
    case padding

    public static func < (left: PacketPriority, right: PacketPriority) -> Bool { left.rawValue < right.rawValue }
}
