import MediaCore

/// From arrival times to the rate that delay allows: groups, trend, detector and rate control in a row.
struct DelayBasedEstimator: Sendable {
    /// After such a pause the delays of before say nothing.
    static let streamTimeout = Duration.seconds(2)

    /// A probe that raises the rate by more than this starts the trend anew: larger frames in longer bursts are delayed
    /// more than those before, once, which is no growth of a queue.
    static let restartFactor = 1.25

    /// What a feedback report led to.
    struct Outcome: Sendable {
        /// The rate that delay allows; nil where nothing changed.
        var rate: BitRate?
        /// Whether the rate is what a probe measured.
        var isProbe = false
        /// Whether delay, which had been shrinking after overuse, is normal again.
        var hasRecovered = false
    }

    private var interArrival = InterArrival()
    private var trendline = TrendlineEstimator()
    private(set) var detector = OveruseDetector()
    private(set) var rateControl: AIMDRateControl
    private var lastReport: MonotonicInstant?

    init(start: BitRate, minimum: BitRate) {
        rateControl = AIMDRateControl(start: start, minimum: minimum)
    }

    var minimum: BitRate {
        get { rateControl.minimum }
        set { rateControl.minimum = newValue }
    }

    /// Sets the rate to what is known otherwise.
    mutating func setEstimate(_ estimate: BitRate, now: MonotonicInstant) {
        rateControl.setEstimate(estimate, now: now)
    }

    /// Takes the packets of a report that arrived, sorted by arrival.
    mutating func update(
        received: [(packet: SentPacket, receiveTime: MonotonicInstant)], acknowledged: BitRate?, probe: BitRate?,
        roundTripTime: Duration?, now: MonotonicInstant
    ) -> Outcome {
        guard !received.isEmpty else { return Outcome() }
        if let lastReport, now - lastReport > Self.streamTimeout {
            interArrival.reset()
            trendline = TrendlineEstimator()
            detector = OveruseDetector()
        }
        lastReport = now
        var outcome = Outcome()
        for (packet, receiveTime) in received {
            let before = detector.state
            update(packet, receiveTime: receiveTime, now: now)
            if before == .underusing, detector.state == .normal { outcome.hasRecovered = true }
        }
        if let roundTripTime { rateControl.roundTripTime = roundTripTime }
        updateRate(&outcome, acknowledged: acknowledged, probe: probe, now: now)
        return outcome
    }

    private mutating func update(_ packet: SentPacket, receiveTime: MonotonicInstant, now: MonotonicInstant) {
        guard
            let delta = interArrival.add(
                sendTime: packet.sendTime, receiveTime: receiveTime, size: packet.size, now: now)
        else { return }
        trendline.add(delta, receiveTime: receiveTime)
        detector.update(
            slope: trendline.slope, deltaCount: trendline.deltaCount, sendInterval: delta.sendInterval,
            receiveTime: receiveTime)
    }

    private mutating func updateRate(
        _ outcome: inout Outcome, acknowledged: BitRate?, probe: BitRate?, now: MonotonicInstant
    ) {
        guard detector.state == .overusing else {
            if let probe {
                if probe > rateControl.rate * Self.restartFactor {
                    interArrival.reset()
                    trendline = TrendlineEstimator()
                }
                rateControl.setEstimate(probe, now: now)
                outcome.rate = rateControl.rate
                outcome.isProbe = true
            } else {
                outcome.rate = rateControl.update(
                    networkState: detector.state, acknowledged: acknowledged, now: now)
            }
            return
        }
        if let acknowledged {
            guard rateControl.isTimeToReduceFurther(throughput: acknowledged, now: now) else { return }
            outcome.rate = rateControl.update(networkState: .overusing, acknowledged: acknowledged, now: now)
        } else if rateControl.isTimeToReduceFurther(throughput: rateControl.rate, now: now) {
            // The path is full before it is known what arrives: halve.
            rateControl.setEstimate(rateControl.rate * 0.5, now: now)
            outcome.rate = rateControl.rate
        }
    }
}
