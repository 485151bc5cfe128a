/// The datagrams that passed the media socket since it was bound.
public struct MediaSocketCounters: Sendable, Equatable {
    /// Datagrams read.
    public var datagramsReceived: UInt64 = 0
    /// Bytes of payload read.
    public var bytesReceived: UInt64 = 0
    /// Datagrams that the kernel took.
    public var datagramsSent: UInt64 = 0
    /// Bytes of payload that the kernel took.
    public var bytesSent: UInt64 = 0
    /// The number of their system calls; one sends several datagrams if the kernel segments.
    public var systemCalls: UInt64 = 0
    /// Datagrams dropped because the socket's send buffer was full.
    public var droppedBufferFull: UInt64 = 0
    /// Datagrams dropped because the kernel refused them: no route, too large, forbidden.
    public var droppedUnsendable: UInt64 = 0

    public init() {}
}
