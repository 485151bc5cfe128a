import MediaCore

/// What is known of the path: its empty delay both ways, what the bottleneck carries, how steadily, and what of ours is
/// in it.
///
/// Times are seconds on the sender's clock, arrivals seconds on the receiver's; the difference of the two clocks is
/// part of both base delays and falls out of all results.
struct PathModel: Sendable {
    /// A longer wait between two packets, in seconds, is the link's, whatever fills the queue.
    private static let outage = 0.15
    /// Bytes.
    private static let fullPacket = 1200.0

    private let parameters: ConfrelayParameters
    private let feedbackMargin: Double
    private let feedbackInterval: Double
    private(set) var capacity: CapacityEstimator
    private(set) var predictionError: PredictionError
    private(set) var jitter: JitterEstimator
    private(set) var inFlight = PacketsInFlight()
    private(set) var baseForward: BaseDelay
    private var baseReverse: WindowedMinimum<Double>
    private var shortestPacketTime: WindowedMinimum<Double>
    private var isPacketTimeMeasured = false

    /// When the newest packet that was heard of arrived.
    private var lastArrival: Double?
    /// When the newest packet that was heard of was sent.
    private(set) var lastHeardSendTime = 0.0
    /// When the newest feedback left the receiver, as far as arrivals tell.
    private var lastFeedback = 0.0
    /// The queueing delay of the newest packet that was heard of, in seconds.
    private(set) var queueDelay = 0.0
    private var lastHeard: MonotonicInstant?
    private var unreliability: FeedbackUnreliability

    init(start: Double, parameters: ConfrelayParameters) {
        self.parameters = parameters
        feedbackMargin = parameters.feedbackMargin.seconds
        feedbackInterval = parameters.feedbackInterval.seconds
        predictionError = PredictionError(parameters: parameters)
        jitter = JitterEstimator(parameters: parameters)
        unreliability = FeedbackUnreliability(parameters: parameters)
        capacity = CapacityEstimator(start: start, parameters: parameters)
        baseForward = BaseDelay(parameters: parameters)
        baseReverse = WindowedMinimum(window: parameters.baseDelayWindow)
        shortestPacketTime = WindowedMinimum(window: parameters.baseDelayWindow)
    }

    /// Without a queue; nil before feedback.
    var roundTripTime: Duration? {
        guard let forward = baseForward.value, let reverse = baseReverse.value else { return nil }
        return .seconds(clamping: forward + reverse)
    }

    /// How long the bottleneck took for a full packet when it was last at its best, in seconds. What others take of it,
    /// and a window that is held small, must not pass for a slow link.
    var packetTime: Double { shortestPacketTime.value ?? Self.fullPacket / capacity.rate }

    /// How long the queue is that others keep filled, in seconds; nil without one.
    var competingDelay: Double? { baseForward.competingDelay }

    /// What the path carries in a round trip without any queue and in a time beyond that, in bytes.
    func delivered(in time: Double, rate: Double) -> DataSize {
        let roundTrip = (baseForward.withoutCompetition ?? 0) + (baseReverse.value ?? 0)
        return DataSize(bytes: rate * (max(roundTrip, 0) + time))
    }

    /// Whether a packet that was reported missing came so late that it was sent again under its old number: a repair
    /// takes a round trip more than the packet, and packets that overtake each other differ by less.
    func isRepair(_ packet: SentPacket, at arrival: Double) -> Bool {
        guard let roundTripTime, let base = baseForward.value else { return false }
        return arrival - packet.sendTime.seconds - base - queueDelay >= roundTripTime.seconds
    }

    /// How long packets take to their feedback while the queue stands, in seconds; nil while it does not.
    var standingRoundTrip: Double? {
        guard baseForward.isStanding, let roundTripTime else { return nil }
        return roundTripTime.seconds + max(queueDelay, competingDelay ?? 0)
    }

    mutating func packetSent(_ packet: SentPacket) {
        inFlight.append(packet)
    }

    /// Feedback came that spoke of packets up to `newestSequence`, the newest of which arrived at `newestArrival`.
    mutating func feedbackReceived(newestSequence: Int64, newestArrival: Double?, now: MonotonicInstant) {
        if let oldest = inFlight.oldest, let roundTripTime {
            let due = max(lastHeard ?? oldest.sendTime, oldest.sendTime + roundTripTime)
            unreliability.feedbackReceived(lateness: (now - due).seconds - feedbackInterval)
        }
        lastHeard = now
        inFlight.remove(upTo: newestSequence)
        guard let newestArrival else { return }
        lastFeedback = newestArrival
        baseReverse.add(now.seconds - newestArrival, now: now)
    }

    /// A packet arrived. Call it in the order of arrivals; returns how long it waited on the way.
    mutating func packetArrived(_ packet: SentPacket, at arrival: Double, now: MonotonicInstant) -> Double {
        let sent = packet.sendTime.seconds
        let size = Double(packet.size.bytes)
        baseForward.add(arrival - sent, jitter: jitter.value, packetTime: packetTime, now: now)
        let base = baseForward.value ?? arrival - sent
        let wait = max(arrival - sent - base, 0)
        queueDelay = wait
        unreliability.packetWaited(wait)
        if let lastArrival, arrival >= lastArrival {
            measure(size: size, sent: sent, wait: wait, spacing: arrival - lastArrival, arrival: arrival)
        }
        if capacity.isMeasured, !isPacketTimeMeasured {
            // So far it was mostly the rate to start with, which says nothing of the path.
            shortestPacketTime = WindowedMinimum(window: parameters.baseDelayWindow)
            isPacketTimeMeasured = true
        }
        shortestPacketTime.add(Self.fullPacket / capacity.rate, now: now)
        lastArrival = max(lastArrival ?? arrival, arrival)
        lastHeardSendTime = sent
        return wait
    }

    /// Draws from a packet what it tells of the capacity.
    private mutating func measure(size: Double, sent: Double, wait: Double, spacing: Double, arrival: Double) {
        // Packets sent after a pause arrive after a pause.
        if spacing - max(sent - lastHeardSendTime, 0) > Self.outage { baseForward.interrupted() }
        let rate = capacity.rate
        let jitter = jitter.value
        let foundQueue = wait > spacing + feedbackMargin + parameters.busyJitter * jitter
        if !foundQueue {
            self.jitter.add(wait - size / rate / 2)
            // What it waited beyond jitter and its own transmission, the link was interrupted or slower than thought.
            let unexplained = wait - jitter - parameters.idleAllowance * size / rate
            if unexplained > 0, unexplained < spacing {
                capacity.add(bytes: 0, busyTime: unexplained, jitter: jitter)
                predictionError.add(bytes: 0, busyTime: unexplained, at: arrival, rate: capacity.rate)
                return
            }
        }
        // Sent no slower than the link is thought to be: the spacing is the link's, or the link is faster than that.
        guard foundQueue || sent - lastHeardSendTime <= size / rate else { return }
        capacity.add(bytes: size, busyTime: spacing, jitter: jitter)
        predictionError.add(bytes: size, busyTime: spacing, at: arrival, rate: capacity.rate)
    }

    /// Starts anew from a rate, in bytes per second.
    mutating func start(at rate: Double) {
        capacity = CapacityEstimator(start: rate, parameters: parameters)
    }

    /// Nothing of ours queues and all that was allowed is sent: there may be more than was measured.
    mutating func grow(over time: Double) {
        capacity.grow(by: 1 + parameters.growth * time)
    }

    /// Sending paused long enough to see the empty path.
    mutating func baseProbed(now: MonotonicInstant) {
        baseForward.probed(now: now)
    }

    /// What of the error of prediction is the link's, not jitter's.
    var unpredictability: Double { predictionError.excess(jitter: jitter.value) }

    /// More than this is not worth knowing, in bytes per second.
    mutating func limitCapacity(to rate: Double) {
        capacity.limit(to: rate)
    }

    /// What is expected of a packet that is sent now.
    struct Prediction {
        /// The link's estimated rate, bytes per second.
        var rate: Double
        /// How long it would queue behind packets in flight, in seconds.
        var pathDelay: Double
        /// How long it would queue behind packets in flight and those that wait at the sender, in seconds.
        var queueDelay: Double
    }

    /// What is expected of a packet that is sent now, with `waiting` bytes at the sender; nil before feedback.
    func prediction(waiting: Double, now: MonotonicInstant) -> Prediction? {
        guard let base = baseForward.value, let reverse = baseReverse.value, let lastArrival else { return nil }
        // Had something arrived since the last feedback, it would have been heard of by now.
        let margin =
            feedbackMargin + parameters.jitterMargin * jitter.value + unreliability.tolerance
        let known = now.seconds - reverse - margin
        let isOverdue = known >= lastFeedback + feedbackInterval
        let silentUntil = isOverdue ? known : lastFeedback
        var rate = capacity.rate
        if let oldest = inFlight.oldest {
            let due = max(lastArrival, oldest.sendTime.seconds + base) + oldest.size / rate
            rate = capacity.rate(whileSilentFor: silentUntil - due, jitter: jitter.value)
        }
        let last = inFlight.lastDelivery(
            lastArrival: lastArrival, silentUntil: silentUntil, baseDelay: base, rate: rate)
        let allowance = parameters.jitterAllowance * jitter.value
        let queue = last - now.seconds - base - allowance
        return Prediction(rate: rate, pathDelay: max(queue, 0), queueDelay: max(queue + waiting / rate, 0))
    }
}
