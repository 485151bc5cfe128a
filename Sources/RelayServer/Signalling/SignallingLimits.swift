import NIOCore

/// The limits of one client at the signalling server.
enum SignallingLimits {
    /// Bytes in the body of a request.
    static let bodySize = 64 * 1024
    /// Bytes in an avatar.
    static let avatarSize = 1 << 20
    /// Samples a side that an avatar is kept with; a larger one is scaled down.
    static let avatarSide = 512
    /// Bytes in all header fields of a request.
    static let headerSize = 16 * 1024
    /// Header fields of a request.
    static let headerFieldCount = 64
    /// Connections on which health checks are answered when a client, or all of them, have no other left.
    static let reservedConnections = 64
    /// The longest duration of such a connection.
    static let reservedTimeout = TimeAmount.seconds(5)
    /// Connections to the administration address.
    static let administrationConnections = 64
    /// The longest time of a connection without a request.
    static let idleTimeout = TimeAmount.seconds(30)
    /// The longest time of a request from its head to the last byte of its answer.
    static let requestTimeout = TimeAmount.seconds(15)
}
