public import MediaCore

/// A packet that left, as congestion control sees it.
public struct SentPacket: Hashable, Sendable {
    /// The transport-wide sequence number, unwrapped: it only grows.
    public var transportSequence: Int64
    /// Bytes on the wire, as far as the sender counts them; the same count everywhere.
    public var size: DataSize
    /// The time of sending, on the sender's clock.
    public var sendTime: MonotonicInstant
    /// The probe cluster that it belongs to, if any.
    public var probeClusterID: Int?

    public init(
        transportSequence: Int64, size: DataSize, sendTime: MonotonicInstant, probeClusterID: Int? = nil
    ) {
        self.transportSequence = transportSequence
        self.size = size
        self.sendTime = sendTime
        self.probeClusterID = probeClusterID
    }
}
