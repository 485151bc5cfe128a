/// Joins that have not become a call, for `GET /metrics`.
public struct JoinCounters: Encodable, Hashable, Sendable {
    /// Participants that have joined over HTTP and have not connected yet.
    public var unconnected = 0
    /// Participants that left because they did not connect in time.
    public var neverConnected: UInt64 = 0
    /// Joins refused because too many before them had not connected.
    public var refusedUnconnected: UInt64 = 0
    /// Participants that left on connecting: the last seat had been taken since they joined.
    public var withoutSeat: UInt64 = 0

    public init() {}
}
