public import CongestionControl
public import MediaCore

/// An input or a decision of a controller at one moment.
public struct FlightRecord: Hashable, Sendable {
    public var time: MonotonicInstant
    public var event: FlightEvent

    public init(time: MonotonicInstant, event: FlightEvent) {
        self.time = time
        self.event = event
    }
}

/// A call of a `CongestionController`, with its result.
public enum FlightEvent: Hashable, Sendable {
    case packetSent(SentPacket)
    case feedbackReceived(TransportFeedbackReport)
    case remoteEstimateReceived(BitRate)
    case receiverReportReceived(fractionLost: Double, roundTripTime: Duration?)
    case demandChanged(BitRate)
    case limitsChanged(RateLimits)
    case senderQueueChanged(DataSize)
    case frameDelayChanged(Duration)
    /// `advance(now:)` was called and returned this decision.
    case decided(ControlDecision)
}

/// The way in which a recording ends.
public enum FlightEnding: Hashable, Sendable {
    /// The call ended, or the recording was stopped.
    case closed
    /// The file reached its size limit, or the recording its longest duration.
    case limitReached
    /// The writer fell behind. After the last record, `lostRecords` were lost.
    case overrun(lostRecords: Int)
    /// The file ends within a record that begins at this offset, or without an end record: its writer was interrupted.
    case truncated(offset: Int)
}
