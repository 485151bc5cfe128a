import MediaCore

/// Recent losses in intervals of at least 250 ms of sending (the observations of libwebrtc's `LossBasedBweV2`).
struct LossObservations: Sendable {
    static let count = 15
    static let leastDuration = Duration.milliseconds(250)
    /// The weight of an observation relative to the next one.
    static let temporalFactor = 0.9
    /// The multiple of the median above which an observation's rate is no outlier but a sudden increase of sending.
    static let suddenRateFactor = 2.0

    /// The result of a quarter of a second.
    struct Observation: Hashable, Sendable {
        /// The size of the packets with feedback, in kB.
        var size: Double
        var lostSize: Double
        /// The sending rate in bit/s.
        var sendingRate: Double

        var receivedSize: Double { size - lostSize }
        var lossRate: Double { size > 0 ? lostSize / size : 0 }
    }

    private struct LostPacket: Sendable {
        var sequence: Int64
        var size: DataSize
    }

    /// The last ones: a ring.
    private var observations: [Observation] = []
    private var oldest = 0
    /// The one that is made.
    private var partialSize = DataSize.zero
    private var partialLosses: [LostPacket] = []
    private var rates: [Double] = []

    /// The number of observations so far.
    private(set) var total = 0
    /// The sending time of the last observation's last packet; before the first observation, of the first packet.
    private(set) var lastSend: MonotonicInstant?
    /// The part of the bytes that was lost, the worst and the best observation left out.
    private(set) var averageLoss = 0.0

    init() {
        observations.reserveCapacity(Self.count)
        rates.reserveCapacity(Self.count)
    }

    /// Takes a report; returns whether it completed an observation.
    mutating func add(_ results: [PacketResult]) -> Bool {
        guard let first = results.first else { return false }
        var firstSend = first.sent.sendTime
        var newestSend = first.sent.sendTime
        for result in results {
            firstSend = min(firstSend, result.sent.sendTime)
            newestSend = max(newestSend, result.sent.sendTime)
            add(result)
        }
        let begin = lastSend ?? firstSend
        lastSend = begin
        let duration = newestSend - begin
        guard duration >= Self.leastDuration else { return false }
        lastSend = newestSend
        complete(duration: duration)
        return true
    }

    /// Calls `body` with each observation and its weight.
    func visit(_ body: (Observation, Double) -> Void) {
        var weight = 1.0
        for age in 0..<observations.count {
            let index = (oldest + observations.count - 1 - age) % observations.count
            body(observations[index], weight)
            weight *= Self.temporalFactor
        }
    }

    private mutating func add(_ result: PacketResult) {
        if result.receiveTime == nil {
            partialLosses.append(LostPacket(sequence: result.sent.transportSequence, size: result.sent.size))
            partialSize += result.sent.size
        } else if result.wasReportedMissing {
            // It was counted when it was considered lost.
            partialLosses.removeAll { $0.sequence == result.sent.transportSequence }
        } else {
            partialSize += result.sent.size
        }
    }

    private mutating func complete(duration: Duration) {
        let lost = partialLosses.reduce(0.0) { $0 + Double($1.size.bytes) } / 1000
        let observation = Observation(
            size: Double(partialSize.bytes) / 1000, lostSize: lost,
            sendingRate: partialSize.bits / duration.seconds)
        partialSize = .zero
        partialLosses.removeAll(keepingCapacity: true)
        if observations.count < Self.count {
            observations.append(observation)
        } else {
            observations[oldest] = observation
            oldest = (oldest + 1) % Self.count
        }
        total += 1
        averageLoss = weightedLoss()
    }

    private mutating func weightedLoss() -> Double {
        var size = 0.0
        var lost = 0.0
        var worst: (loss: Double, size: Double, lost: Double, rate: Double) = (0, 0, 0, 0)
        var best: (loss: Double, size: Double, lost: Double) = (1, 0, 0)
        let hasOutliers = total > 3
        visit { observation, weight in
            size += weight * observation.size
            lost += weight * observation.lostSize
            guard hasOutliers else { return }
            let loss = observation.lossRate
            if loss > worst.loss {
                worst = (loss, weight * observation.size, weight * observation.lostSize, observation.sendingRate)
            }
            if loss < best.loss { best = (loss, weight * observation.size, weight * observation.lostSize) }
        }
        guard size > 0 else { return 0 }
        let rest = size - worst.size - best.size
        guard rest > 0, medianRate() * Self.suddenRateFactor > worst.rate else { return lost / size }
        return max(lost - worst.lost - best.lost, 0) / rest
    }

    private mutating func medianRate() -> Double {
        rates.removeAll(keepingCapacity: true)
        for observation in observations where observation.sendingRate > 0 { rates.append(observation.sendingRate) }
        guard !rates.isEmpty else { return 0 }
        rates.sort()
        let middle = rates.count / 2
        return rates.count % 2 == 0 ? (rates[middle - 1] + rates[middle]) / 2 : rates[middle]
    }
}
