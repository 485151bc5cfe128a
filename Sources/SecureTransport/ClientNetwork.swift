/// The network of a client, for limits per client: an IPv4 address, or the upper 64 bits of an IPv6 address.
///
/// A client that has one IPv6 address has all the addresses of its /64 network, so they share one limit.
public struct ClientNetwork: Hashable, Sendable {
    private var isIPv6: Bool
    private var bits: UInt64

    /// The network of an address. The port makes no difference, and an IPv4-mapped IPv6 address counts as IPv4.
    public init(_ address: TransportAddress) {
        let address = address.unmapped
        isIPv6 = address.isIPv6
        bits = address.ipv6?.0 ?? UInt64(address.ipv4 ?? 0)
    }
}
