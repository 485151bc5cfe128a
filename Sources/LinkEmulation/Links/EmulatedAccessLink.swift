public import MediaCore
public import NIOCore

/// A slow network inside a program: datagrams pass a model of a link before they are sent, or after they arrive.
///
/// `Peer` is the destination or the source of a datagram.
public struct EmulatedAccessLink<Peer: Sendable> {
    /// A datagram under way, with its peer.
    public struct Parcel: Sendable {
        public var datagram: ByteBuffer
        public var peer: Peer
    }

    private var model: LinkModel<Parcel>
    private let headerSize: Int

    public init(profile: LinkProfile, isIPv6: Bool, seed: UInt64, start: MonotonicInstant) {
        model = LinkModel(profile: profile, seed: seed, start: start)
        headerSize = DataSize.datagramHeaders(isIPv6: isIPv6).bytes
    }

    /// Sends a datagram into the link.
    public mutating func send(_ datagram: ByteBuffer, peer: Peer, now: MonotonicInstant) {
        model.send(
            Parcel(datagram: datagram, peer: peer),
            size: DataSize(bytes: datagram.readableBytes + headerSize), now: now)
    }

    /// Returns the next datagram that has arrived by now.
    public mutating func deliver(now: MonotonicInstant) -> Parcel? { model.deliver(now: now) }

    /// The time at which to call `deliver` next.
    public var nextDelivery: MonotonicInstant { model.nextDelivery }

    public var statistics: LinkModel<Parcel>.Statistics { model.statistics }
}

extension DataSize {
    /// Returns the size of the IP and UDP headers of a datagram (RFC 791, RFC 8200, RFC 768).
    public static func datagramHeaders(isIPv6: Bool) -> DataSize { DataSize(bytes: isIPv6 ? 48 : 28) }
}
