public import MediaCore

/// The outstanding work of a link to one receiver, or to receivers that share an encoder. Every decision whether a link
/// is full asks this model.
///
/// An encoder at its coarsest QP, a keyframe and retransmissions may take more than their share. Data beyond the rate
/// is a debt that the rate pays back. While the debt exceeds the latency budget, only a few frames a second are
/// encoded, to keep the picture alive (after a keyframe they are small), and none while it exceeds it by far. So the
/// frame rate falls, and the delay does not grow.
///
/// A policer drops retransmissions too, and its receiver requests them again. So they have a share of the rate.
public struct LinkQueue: Sendable {
    /// The interval of frames while the debt exceeds the latency budget.
    public static let reducedInterval = Duration.milliseconds(100)

    private var rate = BitRate.zero
    private var debt = DataSize.zero
    /// The retransmissions that their share of the rate has not paid yet.
    private var retransmissionDebt = DataSize.zero
    private var updated = MonotonicInstant.zero
    private var lastFrame = MonotonicInstant.zero
    /// The queueing of a packet sent now on the path, as the controller predicts; zero if it predicts nothing.
    public var predicted = Duration.zero

    /// Creates a queue without debt and without a rate.
    public init() {}

    /// The rate that pays from now on.
    public mutating func setRate(_ rate: BitRate, now: MonotonicInstant) {
        pay(now: now)
        self.rate = rate
    }

    /// A frame was encoded.
    public mutating func spend(frame size: DataSize, now: MonotonicInstant) {
        lastFrame = now
        spend(size, now: now)
    }

    /// Records data other than a frame, such as forward error correction.
    public mutating func spend(_ size: DataSize, now: MonotonicInstant) {
        pay(now: now)
        debt += size
    }

    /// A packet is sent again.
    public mutating func spend(retransmission size: DataSize, now: MonotonicInstant) {
        spend(size, now: now)
        retransmissionDebt += size
    }

    /// Returns true if a frame may be encoded now.
    public func hasRoom(now: MonotonicInstant) -> Bool {
        let owed = debt - rate.dataSize(over: now - updated)
        if owed <= rate.dataSize(over: LatencyBudget.debt) { return true }
        return owed <= rate.dataSize(over: LatencyBudget.mostDebt) && now - lastFrame >= Self.reducedInterval
    }

    /// Returns true if a packet may be sent again now.
    ///
    /// - Parameter waiting: The time for all that waits at the sender.
    public func hasRoomForRetransmission(waiting: Duration, now: MonotonicInstant) -> Bool {
        let rate = retransmissionRate
        let debt = retransmissionDebt - rate.dataSize(over: now - updated)
        return debt <= rate.dataSize(over: LatencyBudget.retransmissions) && waiting < LatencyBudget.beforeFrame
    }

    private var retransmissionRate: BitRate { rate * BitrateAllocator.maximumRetransmissionShare }

    /// Returns the link's outstanding work as time.
    ///
    /// - Parameters:
    ///   - size: The size of additional data.
    ///   - waiting: The wait of the oldest packet at the sender.
    public func backlog(
        adding size: DataSize = .zero, waiting: Duration = .zero, now: MonotonicInstant
    ) -> LinkBacklog {
        let owed = rate.duration(for: max(.zero, debt - rate.dataSize(over: now - updated)) + size)
        return LinkBacklog(sent: max(owed, waiting), predicted: predicted)
    }

    private mutating func pay(now: MonotonicInstant) {
        let time = now - updated
        debt = max(.zero, debt - rate.dataSize(over: time))
        retransmissionDebt = max(.zero, retransmissionDebt - retransmissionRate.dataSize(over: time))
        updated = now
    }
}

/// The outstanding work of a link, as time.
public struct LinkBacklog: Hashable, Sendable {
    /// The time for data beyond the rate and data that waits at the sender, at the link's estimated rate.
    public var sent: Duration
    /// The time for the queue on the path, as the controller predicts it.
    public var predicted: Duration

    public init(sent: Duration, predicted: Duration = .zero) {
        self.sent = sent
        self.predicted = predicted
    }

    /// The longer of the two.
    public var longest: Duration { max(sent, predicted) }
}
