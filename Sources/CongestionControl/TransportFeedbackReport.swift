public import MediaCore
public import RTP

/// Feedback on one packet.
public struct PacketResult: Hashable, Sendable {
    public var sent: SentPacket
    /// The arrival on the receiver's clock, whose origin is unknown: only differences have a meaning. Nil while the
    /// packet is missing.
    public var receiveTime: MonotonicInstant?
    /// True if an earlier report said that this packet is missing: it was late, not lost.
    public var wasReportedMissing: Bool
    /// The network's mark; "not capable" if the feedback has no marks (transport-wide feedback).
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
    /// The arrival of the feedback, on the sender's clock.
    public var feedbackTime: MonotonicInstant
    /// The size of sent packets that are younger than the newest packet in feedback.
    public var dataInFlight: DataSize

    public init(results: [PacketResult], feedbackTime: MonotonicInstant, dataInFlight: DataSize) {
        self.results = results
        self.feedbackTime = feedbackTime
        self.dataInFlight = dataInFlight
    }
}
