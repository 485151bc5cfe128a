public import SecureTransport

/// The address to which media is sent: `c=IN IP4 192.0.2.1` (RFC 8866, 5.7).
public struct ConnectionAddress: Hashable, Sendable, CustomStringConvertible {
    /// The type of the address: `IP4` or `IP6`.
    public var addressType: String
    /// An address literal or a host name, without the TTL and the count of a multicast address.
    public var host: String

    public init(addressType: String, host: String) {
        self.addressType = addressType
        self.host = host
    }

    public init(_ address: TransportAddress) {
        self.init(addressType: address.isIPv6 ? "IP6" : "IP4", host: address.host)
    }

    public var description: String { "IN \(addressType) \(host)" }

    /// Returns the address with a port; nil for a host name, which only a resolver could turn into one.
    public func transportAddress(port: UInt16) -> TransportAddress? {
        TransportAddress(host: host, port: port)
    }
}
