/// A DTLS connection's received, refused and sent datagrams.
public struct DTLSCounters: Hashable, Sendable {
    /// All datagrams that came in.
    public var received: UInt64 = 0
    /// Refused datagrams that are not made of whole DTLS records.
    public var malformed: UInt64 = 0
    /// Datagrams without effect: all of their records had come before.
    public var replayed: UInt64 = 0
    /// Refused: data, which DTLS-SRTP does not carry, or more protected records than a handshake can need.
    public var unexpected: UInt64 = 0
    /// Refused datagrams beyond the number that a connection examines.
    public var excessive: UInt64 = 0
    /// Refused datagrams that came after the connection had ended.
    public var late: UInt64 = 0
    /// All datagrams that went out.
    public var sent: UInt64 = 0
    /// Flights that went out again because no answer had come.
    public var timeouts: UInt64 = 0

    /// All datagrams that were refused or had no effect.
    public var refused: UInt64 { malformed + replayed + unexpected + excessive + late }

    public init() {}
}
