public import MediaCore
public import NIOCore

/// A received Opus packet (RFC 7587).
public struct AudioPacket: Sendable {
    /// The RTP payload: one Opus packet.
    public var payload: ByteBuffer
    /// The RTP timestamp, at 48 kHz.
    public var rtpTimestamp: UInt32
    /// The RTP sequence number, unwrapped.
    public var sequence: Int64
    public var arrival: MonotonicInstant
    /// The level that the packet claims (RFC 6464); nil if it claims none.
    public var claimedLevel: AudioLevel?

    public init(
        payload: ByteBuffer, rtpTimestamp: UInt32, sequence: Int64, arrival: MonotonicInstant,
        claimedLevel: AudioLevel? = nil
    ) {
        self.payload = payload
        self.rtpTimestamp = rtpTimestamp
        self.sequence = sequence
        self.arrival = arrival
        self.claimedLevel = claimedLevel
    }
}
