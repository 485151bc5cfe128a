public import CongestionControl
public import MediaCore

/// Sends always at one rate, for tests and comparisons.
public struct FixedRateController: CongestionController {
    private var rate: BitRate
    private var fractionLost = 0.0
    private var roundTripTime: Duration?

    /// Creates a controller whose target is always `rate`.
    public init(rate: BitRate) {
        self.rate = rate
    }

    public mutating func packetSent(_ packet: SentPacket, now: MonotonicInstant) {}

    public mutating func feedbackReceived(_ report: TransportFeedbackReport, now: MonotonicInstant) {
        guard !report.results.isEmpty else { return }
        let lost = report.results.count { $0.receiveTime == nil }
        fractionLost = Double(lost) / Double(report.results.count)
    }

    public mutating func remoteEstimateReceived(_ estimate: BitRate, now: MonotonicInstant) {}

    public mutating func receiverReportReceived(
        fractionLost: Double, roundTripTime: Duration?, now: MonotonicInstant
    ) {
        self.fractionLost = fractionLost
        self.roundTripTime = roundTripTime ?? self.roundTripTime
    }

    public mutating func demandChanged(_ demand: BitRate, now: MonotonicInstant) {}

    public mutating func limitsChanged(_ limits: RateLimits, now: MonotonicInstant) {
        rate = limits.start
    }

    public mutating func advance(now: MonotonicInstant) -> ControlDecision {
        ControlDecision(targetBitRate: rate, pacingRate: pacingRate, nextWakeUp: .distantFuture)
    }

    public var snapshot: ControllerSnapshot {
        ControllerSnapshot(
            targetBitRate: rate, limit: .configuration, fractionLost: fractionLost, roundTripTime: roundTripTime)
    }

    private var pacingRate: BitRate { rate * 2.5 }
}
