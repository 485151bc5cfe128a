public import NIOCore

/// A datagram to be sent as it is.
public struct ICETransmit: Hashable, Sendable {
    public var destination: TransportAddress
    public var datagram: ByteBuffer
}
