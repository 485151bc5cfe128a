public import MediaCore

/// The properties of a link: it delivers packets at a rate from a bounded queue, after a delay, and loses some.
public struct LinkProfile: Hashable, Sendable {
    /// A change of properties at a time. A property that is nil stays as it was.
    public struct Change: Hashable, Sendable {
        /// The time since the link began.
        public var time: Duration
        public var delay: Duration?
        public var jitter: Duration?
        public var loss: LossModel?

        public init(
            at time: Duration, delay: Duration? = nil, jitter: Duration? = nil, loss: LossModel? = nil
        ) {
            self.time = time
            self.delay = delay
            self.jitter = jitter
            self.loss = loss
        }
    }

    public var rate: LinkRate
    /// The propagation delay, after the queue.
    public var delay: Duration
    /// The upper bound of the random part that is added to the delay of each packet.
    public var jitter: Duration
    /// True if jitter may let packets overtake each other.
    public var reorders: Bool
    /// The random losses before the queue.
    public var loss: LossModel
    public var queue: QueueLimit
    /// The most packets that the queue holds, in addition to the limit of `queue`; nil for no such limit.
    public var maximumPackets: Int?
    /// The rule that selects the next packet to leave, and the packets that are dropped or marked.
    public var discipline: QueueDiscipline
    /// The policer before the queue; nil for none.
    public var policer: Policer?
    /// The changes, ascending in time.
    public var changes: [Change]

    public init(
        rate: LinkRate = .unlimited, delay: Duration = .zero, jitter: Duration = .zero, reorders: Bool = false,
        loss: LossModel = .none, queue: QueueLimit = .duration(.milliseconds(300)), maximumPackets: Int? = nil,
        discipline: QueueDiscipline = .dropTail, policer: Policer? = nil, changes: [Change] = []
    ) {
        self.rate = rate
        self.delay = delay
        self.jitter = jitter
        self.reorders = reorders
        self.loss = loss
        self.queue = queue
        self.maximumPackets = maximumPackets
        self.discipline = discipline
        self.policer = policer
        self.changes = changes
    }
}

/// A policer: it drops packets that exceed the rate by more than the burst at once, without a queue.
public struct Policer: Hashable, Sendable {
    public var rate: BitRate
    /// The size that may pass at once after a silence.
    public var burst: DataSize

    public init(rate: BitRate, burst: DataSize) {
        self.rate = rate
        self.burst = burst
    }
}
