import MediaCore
import RoomMedia
import SecureTransport

/// Decides for each new connection to the signalling server how it is served, so that no client can hold all of them.
///
/// A client is an IPv4 address or an IPv6 /64 network; clients share the connections by `FairShare`. A trusted proxy
/// stands for many clients and may hold all of them.
///
/// Further connections come from a reserve, which answers health checks only, and is shared by the same rule.
struct ConnectionAdmission: Sendable {
    /// The way in which a connection is served.
    enum Decision: Equatable {
        /// Every request is answered.
        case served
        /// Health checks are answered; other requests are asked to come back later.
        case reserved
        /// The connection is closed at once.
        case refused
    }

    private var served: FairShare<ClientNetwork>
    private var reserve: FairShare<ClientNetwork>
    private let trustedProxies: [NetworkPrefix]
    /// Connections that were not served in full.
    private(set) var refusedCount: UInt64 = 0

    /// - Parameters:
    ///   - maximum: Connections that are served at the same time.
    ///   - reserve: Connections beyond these on which health checks are answered.
    ///   - trustedProxies: The addresses of reverse proxies.
    init(maximum: Int, reserve: Int, trustedProxies: [NetworkPrefix] = []) {
        served = FairShare(capacity: maximum)
        self.reserve = FairShare(capacity: reserve)
        self.trustedProxies = trustedProxies
    }

    /// Connections that are served at this time.
    var servedCount: Int { served.count }

    /// Takes a place for a new connection.
    mutating func open(from address: TransportAddress) -> Decision {
        let client = ClientNetwork(address)
        if served.take(for: client, isTrusted: trustedProxies.contains { $0.contains(address) }) { return .served }
        refusedCount &+= 1
        return reserve.take(for: client, isTrusted: false) ? .reserved : .refused
    }

    /// Gives the place of a connection back that has been closed.
    mutating func close(from address: TransportAddress, as decision: Decision) {
        let client = ClientNetwork(address)
        switch decision {
        case .served: served.giveBack(client)
        case .reserved: reserve.giveBack(client)
        case .refused: break
        }
    }
}
