public import CongestionControl
public import MediaCore

/// What a controller was told or decided at one moment.
public struct FlightRecord: Hashable, Sendable {
    public var time: MonotonicInstant
    public var event: FlightEvent

    public init(time: MonotonicInstant, event: FlightEvent) {
        self.time = time
        self.event = event
    }
}

/// A call of a `CongestionController`, and what came of it.
public enum FlightEvent: Hashable, Sendable {
    case packetSent(SentPacket)
    case feedbackReceived(TransportFeedbackReport)
    case remoteEstimateReceived(BitRate)
    case receiverReportReceived(fractionLost: Double, roundTripTime: Duration?)
    case demandChanged(BitRate)
    case limitsChanged(RateLimits)
    case senderQueueChanged(DataSize)
    case frameDelayChanged(Duration)
    /// `advance(now:)` was called and returned this.
    case decided(ControlDecision)
}

/// How a recording ends.
public enum FlightEnding: Hashable, Sendable {
    /// The call ended, or the recording was ended in order.
    case closed
    /// The file was as large as it may become, or the recording as long.
    case limitReached
    /// What writes the file fell behind: so many records were not taken after the last one.
    case overrun(lostRecords: Int)
    /// The file ends within a record that begins at this offset, or without saying that it ends: what made it did not
    /// end in order.
    case truncated(offset: Int)
}
