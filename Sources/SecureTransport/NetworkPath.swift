/// The way of a datagram between an address of the other side and one of ours: a candidate pair (RFC 8445).
///
/// A datagram on a path leaves from where the other side's datagrams on this path arrive. From elsewhere, a client
/// would not take the answer to its check, and a NAT or firewall would keep it.
public struct NetworkPath: Hashable, Sendable {
    /// The other side's address.
    public var remote: TransportAddress
    /// Our address, with port 0. Nil: the socket has one address, or the system chooses one.
    public var local: TransportAddress?

    public init(remote: TransportAddress, local: TransportAddress? = nil) {
        self.remote = remote
        self.local = local
    }
}
