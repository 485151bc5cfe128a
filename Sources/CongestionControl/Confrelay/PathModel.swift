import MediaCore

/// A model of the path: its empty delay both ways, the bottleneck's capacity and its stability, and our packets in it.
///
/// Times are seconds on the sender's clock, arrivals seconds on the receiver's; the difference of the two clocks is
/// part of both base delays and cancels in all results.
struct PathModel: Sendable {
    /// A wait between two packets from which it is the link's, whatever fills the queue, in seconds.
    private static let outage = 0.15
    /// The size of a full packet in bytes.
    private static let fullPacket = 1200.0

    private let shared: SharedParameters
    private var parameters: ConfrelayParameters { shared.values }
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

    /// The arrival of the newest packet with feedback.
    private var lastArrival: Double?
    /// The sending time of the newest packet with feedback.
    private(set) var lastHeardSendTime = 0.0
    /// The time at which the newest feedback left the receiver, estimated from arrivals.
    private var lastFeedback = 0.0
    /// The queueing delay of the newest packet that was heard of, in seconds.
    private(set) var queueDelay = 0.0
    private var lastHeard: MonotonicInstant?
    private var unreliability: FeedbackUnreliability

    init(start: Double, _ shared: SharedParameters) {
        let parameters = shared.values
        self.shared = shared
        feedbackMargin = parameters.feedbackMargin.seconds
        feedbackInterval = parameters.feedbackInterval.seconds
        predictionError = PredictionError(parameters: parameters)
        jitter = JitterEstimator(parameters: parameters)
        unreliability = FeedbackUnreliability(parameters: parameters)
        capacity = CapacityEstimator(start: start, parameters: parameters)
        baseForward = BaseDelay(shared)
        baseReverse = WindowedMinimum(window: parameters.baseDelayWindow)
        shortestPacketTime = WindowedMinimum(window: parameters.baseDelayWindow)
    }

    /// The round-trip time without a queue; nil before feedback.
    var roundTripTime: Duration? {
        guard let forward = baseForward.value, let reverse = baseReverse.value else { return nil }
        return .seconds(clamping: forward + reverse)
    }

    /// The shortest recent time of the bottleneck for a full packet, in seconds. The capacity that others take, and a
    /// small window, must not make the link look slow.
    var packetTime: Double { shortestPacketTime.value ?? Self.fullPacket / capacity.rate }

    /// The length of the queue that others keep filled, in seconds; nil without one.
    var competingDelay: Double? { baseForward.competingDelay }

    /// The bytes that the path carries in a round trip without any queue and in a time beyond that.
    func delivered(in time: Double, rate: Double) -> DataSize {
        let roundTrip = (baseForward.withoutCompetition ?? 0) + (baseReverse.value ?? 0)
        return DataSize(bytes: rate * (max(roundTrip, 0) + time))
    }

    /// Returns true if a packet that was reported missing came so late that it is a retransmission under its old
    /// number: a repair takes a round trip more than the packet, and reordering is shorter.
    func isRepair(_ packet: SentPacket, at arrival: Double) -> Bool {
        guard let roundTripTime, let base = baseForward.value else { return false }
        return arrival - packet.sendTime.seconds - base - queueDelay >= roundTripTime.seconds
    }

    /// The time from a packet to its feedback while the queue stands, in seconds; nil while it does not.
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
            // Until now it was mostly the initial rate, which says nothing about the path.
            shortestPacketTime = WindowedMinimum(window: parameters.baseDelayWindow)
            isPacketTimeMeasured = true
        }
        shortestPacketTime.add(Self.fullPacket / capacity.rate, now: now)
        lastArrival = max(lastArrival ?? arrival, arrival)
        lastHeardSendTime = sent
        return wait
    }

    /// Updates the capacity with a packet.
    private mutating func measure(size: Double, sent: Double, wait: Double, spacing: Double, arrival: Double) {
        // Packets sent after a pause arrive after a pause.
        if spacing - max(sent - lastHeardSendTime, 0) > Self.outage { baseForward.interrupted() }
        let rate = capacity.rate
        let jitter = jitter.value
        let foundQueue = wait > spacing + feedbackMargin + parameters.busyJitter * jitter
        if !foundQueue {
            self.jitter.add(wait - size / rate / 2)
            // The wait beyond jitter and the packet's own transmission: the link was interrupted or slower than
            // estimated.
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

    /// Starts again with a rate, in bytes per second.
    mutating func start(at rate: Double) {
        capacity = CapacityEstimator(start: rate, parameters: parameters)
    }

    /// Raises the capacity, because nothing of ours queues although the whole target is sent.
    mutating func grow(over time: Double) {
        capacity.grow(by: 1 + parameters.growth * time)
    }

    /// Notes that sending has paused long enough to see the empty path.
    mutating func baseProbed(now: MonotonicInstant) {
        baseForward.probed(now: now)
    }

    /// The part of the prediction error that is the link's and not jitter's.
    var unpredictability: Double { predictionError.excess(jitter: jitter.value) }

    /// Limits the capacity to this rate in bytes per second; more need not be known.
    mutating func limitCapacity(to rate: Double) {
        capacity.limit(to: rate)
    }

    /// The prediction for a packet that is sent now.
    struct Prediction {
        /// The link's estimated rate, bytes per second.
        var rate: Double
        /// The queueing behind packets in flight, in seconds.
        var pathDelay: Double
        /// The queueing behind packets in flight and packets that wait at the sender, in seconds.
        var queueDelay: Double
    }

    /// Returns the prediction for a packet that is sent now, with `waiting` bytes at the sender; nil before feedback.
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
