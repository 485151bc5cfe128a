import LinkEmulation
import MediaCore
import NIOCore
import SecureTransport

/// A slow network in front of the socket: what goes to each address passes a link of its own first.
struct EmulatedDownlinks {
    private typealias Link = EmulatedAccessLink<TransportAddress>

    private let profile: LinkProfile
    private let start: MonotonicInstant
    private var links: [TransportAddress: Link] = [:]
    private var order: [TransportAddress] = []

    /// Links kept. Beyond them the oldest goes, with what it still holds; who is still sent to gets a new one.
    private static let capacity = 1024

    /// - Parameter start: What the steps of the profile's rate count from.
    init(profile: LinkProfile, start: MonotonicInstant) {
        self.profile = profile
        self.start = start
    }

    /// Gives a datagram to the link of its destination.
    mutating func send(_ datagram: ByteBuffer, to destination: TransportAddress, now: MonotonicInstant) {
        if links[destination] == nil {
            if order.count == Self.capacity { links[order.removeFirst()] = nil }
            order.append(destination)
            links[destination] = Link(
                profile: profile, isIPv6: destination.isIPv6, seed: UInt64(destination.port), start: start)
        }
        links[destination]?.send(datagram, peer: destination, now: now)
    }

    /// Hands over what came out of the links by now.
    mutating func deliver(now: MonotonicInstant, to send: (ByteBuffer, TransportAddress) -> Void) {
        for destination in order {
            while let parcel = links[destination]?.deliver(now: now) { send(parcel.datagram, parcel.peer) }
        }
    }

    /// When something comes out next.
    var nextDelivery: MonotonicInstant {
        links.values.reduce(.distantFuture) { min($0, $1.nextDelivery) }
    }
}
