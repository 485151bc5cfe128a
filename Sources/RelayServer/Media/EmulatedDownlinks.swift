import LinkEmulation
import MediaCore
import NIOCore
import SecureTransport

/// A slow network between the socket and its destinations: each address has a link of its own.
struct EmulatedDownlinks {
    private typealias Link = EmulatedAccessLink<NetworkPath>

    private let profile: LinkProfile
    private let start: MonotonicInstant
    private var links: [TransportAddress: Link] = [:]
    private var order: [TransportAddress] = []

    /// The number of kept links. Beyond it the oldest is removed with its datagrams; an address still in use gets a new
    /// one.
    private static let capacity = 1024

    /// - Parameter start: The origin of the steps of the profile's rate.
    init(profile: LinkProfile, start: MonotonicInstant) {
        self.profile = profile
        self.start = start
    }

    /// Gives a datagram to the link of its destination.
    mutating func send(_ datagram: ByteBuffer, on path: NetworkPath, now: MonotonicInstant) {
        let destination = path.remote
        if links[destination] == nil {
            if order.count == Self.capacity { links[order.removeFirst()] = nil }
            order.append(destination)
            links[destination] = Link(
                profile: profile, isIPv6: destination.isIPv6, seed: UInt64(destination.port), start: start)
        }
        links[destination]?.send(datagram, peer: path, now: now)
    }

    /// Sends the datagrams that have passed their links by now.
    mutating func deliver(now: MonotonicInstant, to send: (ByteBuffer, NetworkPath) -> Void) {
        for destination in order {
            while let parcel = links[destination]?.deliver(now: now) { send(parcel.datagram, parcel.peer) }
        }
    }

    /// The time of the next delivery.
    var nextDelivery: MonotonicInstant {
        links.values.reduce(.distantFuture) { min($0, $1.nextDelivery) }
    }
}
