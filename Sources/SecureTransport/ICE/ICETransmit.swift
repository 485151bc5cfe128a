public import NIOCore

/// A datagram to send.
public struct ICETransmit: Hashable, Sendable {
    public var destination: TransportAddress
    public var datagram: ByteBuffer
}
