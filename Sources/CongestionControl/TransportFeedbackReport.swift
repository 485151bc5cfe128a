public import MediaCore
public import RTP

/// Feedback on one packet.
public struct PacketResult: Hashable, Sendable {
    public var sent: SentPacket
    /// When it arrived, on the receiver's clock (whose origin is unknown: only differences mean something);
    /// nil when it is missing so far.
    public var receiveTime: MonotonicInstant?
    /// Whether an earlier report had called this packet missing: it was late, not lost.
    public var wasReportedMissing: Bool
    /// How the network marked it; feedback that tells nothing of marks (transport-wide feedback) says "not capable".
    public var ecn: ECNCodepoint

    public init(
        sent: SentPacket, receiveTime: MonotonicInstant?, wasReportedMissing: Bool = false,
        ecn: ECNCodepoint = .notCapable
    ) {
        self.sent = sent
        self.receiveTime = receiveTime
        self.wasReportedMissing = wasReportedMissing
        self.ecn = ecn
    }
}

/// Transport-wide feedback matched to the packets that were sent.
public struct TransportFeedbackReport: Hashable, Sendable {
    /// The packets in the order of their sequence numbers; each is reported received at most once and missing at most
    /// once.
    public var results: [PacketResult]
    /// When the feedback arrived, on the sender's clock.
    public var feedbackTime: MonotonicInstant
    /// What was sent and is younger than the newest packet that feedback spoke of.
    public var dataInFlight: DataSize

    public init(results: [PacketResult], feedbackTime: MonotonicInstant, dataInFlight: DataSize) {
        self.results = results
        self.feedbackTime = feedbackTime
        self.dataInFlight = dataInFlight
    }
}
