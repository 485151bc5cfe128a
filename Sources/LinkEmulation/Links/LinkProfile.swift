/// What a link does to packets: delivers them at a rate from a bounded queue, after a delay, but for those it loses.
public struct LinkProfile: Hashable, Sendable {
    /// What differs from some time on; what is nil stays as it was.
    public struct Change: Hashable, Sendable {
        /// Since the link began.
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
    /// The delay of each packet grows by a random part of this.
    public var jitter: Duration
    /// Whether jitter may let packets overtake each other.
    public var reorders: Bool
    /// What is lost at random, before the queue.
    public var loss: LossModel
    public var queue: QueueLimit
    /// The most packets that the queue holds, whatever `queue` says; nil for no such limit.
    public var maximumPackets: Int?
    /// Which packet of the queue leaves next, and which is dropped or marked.
    public var discipline: QueueDiscipline
    /// What limits the rate before the queue, if anything does.
    public var policer: Policer?
    /// Ascending in time.
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
