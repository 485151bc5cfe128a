public import MediaCore
public import NIOCore

/// A slow network inside a program: its datagrams pass a model of a link before they are sent, or after they came.
///
/// `Peer` tells where a datagram goes or where it came from.
public struct EmulatedAccessLink<Peer: Sendable> {
    /// A datagram under way and its other end.
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

    /// Gives a datagram to the link.
    public mutating func send(_ datagram: ByteBuffer, peer: Peer, now: MonotonicInstant) {
        model.send(
            Parcel(datagram: datagram, peer: peer),
            size: DataSize(bytes: datagram.readableBytes + headerSize), now: now)
    }

    /// The next datagram that came out by now.
    public mutating func deliver(now: MonotonicInstant) -> Parcel? { model.deliver(now: now) }

    /// When to call `deliver` next.
    public var nextDelivery: MonotonicInstant { model.nextDelivery }

    public var statistics: LinkModel<Parcel>.Statistics { model.statistics }
}

extension DataSize {
    /// What IP and UDP headers add to a datagram (RFC 791, RFC 8200, RFC 768).
    public static func datagramHeaders(isIPv6: Bool) -> DataSize { DataSize(bytes: isIPv6 ? 48 : 28) }
}
