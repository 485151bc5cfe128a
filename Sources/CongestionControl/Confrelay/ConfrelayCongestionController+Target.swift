import MediaCore

/// Computes the allowed rate from the model of the path.
extension ConfrelayCongestionController {
    /// Predicted delays up to this, in seconds, are no queue: growth continues.
    private static let emptyQueue = 0.002
    /// The same for the delay that the newest packet met, which includes the frame that it belongs to.
    private static let emptyQueueOnArrival = 0.01
    /// The part of the rate that delay allows, below which another bound of the target leaves the path so empty that
    /// the capacity may not grow.
    private static let leastBound = 0.5

    mutating func update(now: MonotonicInstant) {
        let time = min((now - lastUpdate).seconds, Self.idleInterval.seconds)
        lastUpdate = now
        guard timeout.hasTransportFeedback else {
            updateByReports(now: now)
            return
        }
        path.limitCapacity(to: max(limits.maximum, target).bytesPerSecond * parameters.headroom)
        if isUsedWithoutQueue(now: now) { path.grow(over: time) }
        guard let prediction = path.prediction(waiting: Double(senderQueue.bytes), now: now) else { return }
        capacity = prediction.rate
        queueDelay = prediction.queueDelay
        pathDelay = prediction.pathDelay
        baseDelayProbe.update(path: &path, now: now)
        competition.update(
            isCompeting: path.competingDelay != nil, start: target, capacity: BitRate(bytesPerSecond: capacity),
            maximum: limits.maximum, now: now)
        marks.update(
            roundTrip: (path.roundTripTime?.seconds ?? 0) + path.queueDelay,
            sending: usage.rate(now: now).bytesPerSecond, capacity: capacity, now: now)
        keepAlive.update(oldest: path.inFlight.oldest?.sendTime, packetTime: path.packetTime, now: now)
        chooseTarget()
        // Once the queue must have gone, single packets tell whether it has.
        isSilent = isSilentProbe && (baseDelayProbe.isDraining(now: now) || !path.inFlight.isEmpty)
        slowPathPause.update(
            rate: keepAlive.isSilent(now: now) ? nil : BitRate(bytesPerSecond: path.capacity.rate * use),
            minimum: limits.minimum,
            delay: (path.roundTripTime ?? .zero) + .seconds(clamping: min(queueDelay, parameters.ownQueue.seconds)),
            now: now)
    }

    /// Receivers without transport-wide feedback tell of losses alone.
    private mutating func updateByReports(now: MonotonicInstant) {
        if let factor = timeout.step(now: now) { reports.reduce(by: factor, now: now) }
        if !timeout.isSilent { reports.update(now: now) }
        target = reports.target
        limit = reports.limit
    }

    /// Returns true if nothing queues although the whole target is sent: there may be more capacity than measured.
    /// Where losses bound the target to far less than delay allows, the empty queue says nothing about the path's rate.
    private mutating func isUsedWithoutQueue(now: MonotonicInstant) -> Bool {
        guard queueDelay <= Self.emptyQueue, path.queueDelay <= Self.emptyQueueOnArrival + path.jitter.value,
            target < demand
        else { return false }
        let allowed = min(BitRate(bytesPerSecond: delayBasedRate), limits.maximum)
        return usage.rate(now: now) >= max(target, allowed * Self.leastBound) * parameters.usedPart
    }

    private mutating func chooseTarget() {
        var rate = delayBasedRate
        limit = .delay
        if let competing = competition.rate?.bytesPerSecond, competing > rate { rate = competing }
        if let bound = losses.bound, bound < rate {
            rate = bound
            limit = .loss
        }
        // Marks come before losses and say the same.
        if let bound = marks.bound, bound < rate {
            rate = bound
            limit = .loss
        }
        var bounded = BitRate(bytesPerSecond: rate)
        if let remoteEstimate, remoteEstimate < bounded {
            bounded = remoteEstimate
            limit = .remoteEstimate
        }
        if baseDelayProbe.isActive { bounded = min(bounded, limits.minimum) }
        target = bounded.clamped(to: limits.range)
        if target != bounded { limit = .configuration }
        if keepAlive.allowsPacket { limit = .feedbackTimeout }
    }

    /// The reason for which no video may be sent now.
    var videoPause: VideoPause? {
        guard timeout.hasTransportFeedback else { return nil }
        if slowPathPause.isActive { return .slowPath }
        return isSilent ? .emptyPathProbe : nil
    }

    /// The wait of packets at the sender from which no further frames are made; nil leaves it to the sender.
    var frameTimeout: Duration? {
        guard timeout.hasTransportFeedback, path.capacity.rate * use < limits.minimum.bytesPerSecond else { return nil }
        return parameters.slowFrameTimeout
    }

    /// True if a pause to see the empty path must stop video, because the queue would not drain in time at the minimum
    /// rate.
    private var isSilentProbe: Bool {
        guard baseDelayProbe.isActive else { return false }
        let length = parameters.probeLength.seconds + (path.roundTripTime ?? .zero).seconds
        return limits.minimum.bytesPerSecond * (length + queueDelay) > capacity * length * Self.drainingPart
    }

    /// The part of the capacity that the queue may need at least, during such a pause, to drain.
    private static let drainingPart = 0.5

    /// The part of the capacity that its unsteadiness and losses leave.
    private var use: Double {
        (parameters.utilization - parameters.caution * path.unpredictability) * losses.use
    }

    /// The rate by delays, in bytes per second.
    var delayBasedRate: Double {
        let additive =
            parameters.additiveRate.bytesPerSecond * (capacity / BitRate.megabits(1).bytesPerSecond).squareRoot()
        // The rest of the queue when the frame that is made at this target leaves.
        let queue = max(queueDelay - frameDelay, 0)
        return capacity * max(use - queue / parameters.drainTime.seconds, 0) + additive
    }

    /// True if more is in flight than the path delivers within a frame.
    var isDraining: Bool { queueDelay > parameters.drainTime.seconds }

    /// The target without the reduction that drains the queue before the next frame.
    var sustained: BitRate? {
        guard timeout.hasTransportFeedback, limit == .delay || limit == .configuration else { return nil }
        return max(BitRate(bytesPerSecond: capacity * use).clamped(to: limits.range), target)
    }

    var pacingRate: BitRate {
        // A queue that marks packets after a millisecond takes no trains.
        if marks.isScalable {
            return max(BitRate(bytesPerSecond: min(capacity, marks.bound ?? capacity)), target)
        }
        return max(BitRate(bytesPerSecond: capacity), target) * parameters.pacingFactor
            + parameters.additivePacingRate
    }

    private var leastWindow: DataSize {
        let time = parameters.leastWindowTime.seconds / path.packetTime * Double(Self.packet.bytes)
        return min(parameters.leastWindow, max(DataSize(bytes: time), Self.packet))
    }

    private static let packet = DataSize(bytes: 1200)

    /// The data that the slowest path of a call carries within its bound, before feedback describes this path; nil if
    /// nothing is heard for so long that the receiver seems to send no feedback.
    private var startWindow: DataSize? {
        let time = path.inFlight.oldest.map { lastUpdate - $0.sendTime } ?? .zero
        guard time < parameters.startPatience else { return nil }
        // Half of what it carries meanwhile is for audio, which nothing holds, and for headers.
        return parameters.slowestPath.dataSize(over: parameters.startQueue + max(time, .zero) / 2)
    }

    /// The window that bounds the queue on the path; nil if the receiver sends no feedback on packets. The sender's own
    /// queue does not count, because it would hold itself back.
    var congestionWindow: DataSize? {
        guard timeout.hasTransportFeedback else { return hasReceiverReport ? nil : startWindow }
        if isSilent { return keepAlive.allowsPacket ? DataSize(bytes: path.inFlight.size + 1) : .zero }
        // A packet, and no other before it is heard of.
        if isSilentProbe { return DataSize(bytes: 1) }
        let room = capacity * (parameters.holdDelay.seconds - pathDelay)
        var window = max(DataSize(bytes: path.inFlight.size + room), leastWindow)
        // Beside others the queue's length is theirs: only its overflow, which losses show, is a bound. And the minimum
        // rate goes through any queue.
        if let time = path.standingRoundTrip {
            let rate = max(competition.rate ?? .zero, limits.minimum)
            window = max(window, rate.dataSize(over: .seconds(clamping: time) + parameters.competitionSlack))
        }
        let own = path.delivered(in: parameters.ownQueue.seconds, rate: capacity)
        window = min(window, max(own, leastWindow))
        // The feedback on a single packet tells that it arrived, and not what the path carries.
        if path.capacity.isGuess, let startWindow { window = min(window, startWindow) }
        return keepAlive.allowsPacket ? max(window, DataSize(bytes: path.inFlight.size + 1)) : window
    }
}
