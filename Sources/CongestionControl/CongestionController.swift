public import MediaCore

/// Decides from feedback how much to send on one path.
///
/// A controller is a value that reads no clock: every call takes the time, which must not go backwards. After any of
/// the calls, and at `ControlDecision.nextWakeUp` at the latest, call `advance(now:)` and apply its decision.
public protocol CongestionController: Sendable {
    /// A packet left. Call it in sending order, with the sequence that `TransportFeedbackAdapter` gave.
    mutating func packetSent(_ packet: SentPacket, now: MonotonicInstant)

    /// Transport-wide feedback arrived.
    mutating func feedbackReceived(_ report: TransportFeedbackReport, now: MonotonicInstant)

    /// The receiver's own estimate arrived (draft-alvestrand-rmcat-remb-03): an upper bound.
    mutating func remoteEstimateReceived(_ estimate: BitRate, now: MonotonicInstant)

    /// Takes a receiver report (RFC 3550, 6.4.2): the fraction lost since the last one, and the round-trip time if the
    /// report allows its computation.
    mutating func receiverReportReceived(fractionLost: Double, roundTripTime: Duration?, now: MonotonicInstant)

    /// The most that the application would send if it could, when that changes: probing beyond it would be a waste.
    /// The controller may probe when it grows. Without a call, the maximum of the limits.
    mutating func demandChanged(_ demand: BitRate, now: MonotonicInstant)

    /// Changes the limits of a running controller.
    mutating func limitsChanged(_ limits: RateLimits, now: MonotonicInstant)

    /// Reports the size of the sender's queue at the pacer. Not every sender calls it.
    mutating func senderQueueChanged(_ size: DataSize, now: MonotonicInstant)

    /// Reports the time from reading the target for a frame until the frame's packets may leave. Without a call it is
    /// zero.
    mutating func frameDelayChanged(_ delay: Duration, now: MonotonicInstant)

    /// Decides again.
    mutating func advance(now: MonotonicInstant) -> ControlDecision

    /// The controller's state, for metrics.
    var snapshot: ControllerSnapshot { get }

    /// The predicted queueing on the path of a packet sent now; nil if it is not known.
    var predictedQueue: Duration? { get }
}

extension CongestionController {
    public mutating func senderQueueChanged(_ size: DataSize, now: MonotonicInstant) {}
    public mutating func frameDelayChanged(_ delay: Duration, now: MonotonicInstant) {}
    public var predictedQueue: Duration? { nil }
}
