import MediaCore

/// Derives from arrival times the rate that the delay allows (libwebrtc's `DelayBasedBwe`): groups, trend, detector and
/// rate control in a row.
struct DelayBasedEstimator: Sendable {
    /// After a pause of this length, earlier delays are ignored.
    static let streamTimeout = Duration.seconds(2)

    /// The outcome of a feedback report.
    struct Outcome: Sendable {
        /// The rate that delay allows; nil if nothing changed.
        var rate: BitRate?
        /// True if the rate is the result of a probe.
        var isProbe = false
        /// True if delay, which had been shrinking after overuse, is normal again.
        var hasRecovered = false
    }

    private var interArrival = InterArrival()
    private var trendline = TrendlineEstimator()
    private(set) var detector = OveruseDetector()
    private(set) var rateControl: AIMDRateControl
    private var lastReport: MonotonicInstant?
    /// The last outcome's rate; nil before the first.
    private(set) var lastRate: BitRate?

    init(start: BitRate, minimum: BitRate) {
        rateControl = AIMDRateControl(start: start, minimum: minimum)
    }

    var minimum: BitRate {
        get { rateControl.minimum }
        set { rateControl.minimum = newValue }
    }

    var roundTripTime: Duration {
        get { rateControl.roundTripTime }
        set { rateControl.roundTripTime = newValue }
    }

    /// Takes the packets of a report that arrived, sorted by arrival.
    mutating func update(
        received: [(packet: SentPacket, receiveTime: MonotonicInstant)], acknowledged: BitRate?, probe: BitRate?,
        now: MonotonicInstant
    ) -> Outcome {
        guard !received.isEmpty else { return Outcome() }
        if let lastReport, now - lastReport > Self.streamTimeout {
            interArrival.reset()
            trendline = TrendlineEstimator()
            detector = OveruseDetector()
        }
        lastReport = now
        var hasRecovered = false
        for (packet, receiveTime) in received {
            let before = detector.state
            update(packet, receiveTime: receiveTime, now: now)
            if before == .underusing, detector.state == .normal { hasRecovered = true }
        }
        var outcome = updateRate(acknowledged: acknowledged, probe: probe, now: now)
        if detector.state != .overusing, probe == nil { outcome.hasRecovered = hasRecovered }
        lastRate = outcome.rate ?? lastRate
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

    private mutating func updateRate(acknowledged: BitRate?, probe: BitRate?, now: MonotonicInstant) -> Outcome {
        guard detector.state == .overusing else {
            if let probe {
                rateControl.setEstimate(probe, now: now)
                return Outcome(rate: rateControl.rate, isProbe: true)
            }
            return Outcome(
                rate: rateControl.update(networkState: detector.state, acknowledged: acknowledged, now: now))
        }
        if let acknowledged {
            guard rateControl.isTimeToReduceFurther(throughput: acknowledged, now: now) else { return Outcome() }
            return Outcome(
                rate: rateControl.update(networkState: .overusing, acknowledged: acknowledged, now: now))
        }
        // The path is full and the rate of arrivals is unknown: halve, at most once in 200 ms.
        guard rateControl.isTimeToReduceFurther(throughput: rateControl.rate, now: now) else { return Outcome() }
        rateControl.setEstimate(rateControl.rate * 0.5, now: now)
        return Outcome(rate: rateControl.rate)
    }
}
