import NIOCore

/// What one client may take of the signalling server.
enum SignallingLimits {
    /// Bytes in the body of a request.
    static let bodySize = 64 * 1024
    /// Bytes in a portrait.
    static let portraitSize = 1 << 20
    /// Samples a side that a portrait is kept with; a larger one is scaled down.
    static let portraitSide = 512
    /// Bytes in all header fields of a request.
    static let headerSize = 16 * 1024
    /// Header fields of a request.
    static let headerFieldCount = 64
    /// Connections open at the same time; more wait in the kernel's queue.
    static let connections = 512
    /// How long a connection may stay without a request.
    static let idleTimeout = TimeAmount.seconds(30)
    /// How long a request may take from its head to the last byte of its answer.
    static let requestTimeout = TimeAmount.seconds(15)
}
