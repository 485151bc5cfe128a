public import CongestionControl
public import MediaCore

/// A controller that forwards all calls to another controller and records them with its decisions.
///
/// Copies share the recorder, so only one of them may be used further.
public struct RecordingController: CongestionController {
    private var base: any CongestionController
    private let recorder: FlightRecorder

    /// Wraps a new controller that was created with the values of the recorder's header.
    public init(_ base: any CongestionController, recorder: FlightRecorder) {
        self.base = base
        self.recorder = recorder
    }

    public mutating func packetSent(_ packet: SentPacket, now: MonotonicInstant) {
        recorder.record(.packetSent(packet), now: now)
        base.packetSent(packet, now: now)
    }

    public mutating func feedbackReceived(_ report: TransportFeedbackReport, now: MonotonicInstant) {
        recorder.record(.feedbackReceived(report), now: now)
        base.feedbackReceived(report, now: now)
    }

    public mutating func remoteEstimateReceived(_ estimate: BitRate, now: MonotonicInstant) {
        recorder.record(.remoteEstimateReceived(estimate), now: now)
        base.remoteEstimateReceived(estimate, now: now)
    }

    public mutating func receiverReportReceived(
        fractionLost: Double, roundTripTime: Duration?, now: MonotonicInstant
    ) {
        recorder.record(.receiverReportReceived(fractionLost: fractionLost, roundTripTime: roundTripTime), now: now)
        base.receiverReportReceived(fractionLost: fractionLost, roundTripTime: roundTripTime, now: now)
    }

    public mutating func demandChanged(_ demand: BitRate, now: MonotonicInstant) {
        recorder.record(.demandChanged(demand), now: now)
        base.demandChanged(demand, now: now)
    }

    public mutating func limitsChanged(_ limits: RateLimits, now: MonotonicInstant) {
        recorder.record(.limitsChanged(limits), now: now)
        base.limitsChanged(limits, now: now)
    }

    public mutating func senderQueueChanged(_ size: DataSize, now: MonotonicInstant) {
        recorder.record(.senderQueueChanged(size), now: now)
        base.senderQueueChanged(size, now: now)
    }

    public mutating func frameDelayChanged(_ delay: Duration, now: MonotonicInstant) {
        recorder.record(.frameDelayChanged(delay), now: now)
        base.frameDelayChanged(delay, now: now)
    }

    public mutating func advance(now: MonotonicInstant) -> ControlDecision {
        let decision = base.advance(now: now)
        recorder.record(.decided(decision), now: now)
        return decision
    }

    public var snapshot: ControllerSnapshot { base.snapshot }

    public var predictedQueue: Duration? { base.predictedQueue }
}
