/// An IPv4 or IPv6 address with a UDP port: the source or destination of a datagram.
///
/// It is a small value, for use as a dictionary key for every datagram; the text forms are those of RFC 5952.
public struct TransportAddress: Hashable, Sendable {
    /// The upper 64 bits of an IPv6 address; zero for IPv4.
    private var high: UInt64
    /// The lower 64 bits of an IPv6 address; an IPv4 address in its lower 32 bits.
    private var low: UInt64
    /// The interface of a link-local IPv6 address (`sin6_scope_id`); zero when none is meant.
    public var scopeID: UInt32
    /// The UDP port, in host byte order.
    public var port: UInt16
    /// True for an IPv6 address.
    public let isIPv6: Bool

    /// An IPv4 address given as a number in host byte order: 127.0.0.1 is `0x7F00_0001`.
    public init(ipv4: UInt32, port: UInt16) {
        high = 0
        low = UInt64(ipv4)
        scopeID = 0
        self.port = port
        isIPv6 = false
    }

    /// An IPv6 address given as two numbers in host byte order: ::1 is `(0, 1)`.
    public init(ipv6: (UInt64, UInt64), port: UInt16, scopeID: UInt32 = 0) {
        high = ipv6.0
        low = ipv6.1
        self.scopeID = scopeID
        self.port = port
        isIPv6 = true
    }

    /// Parses an address literal, such as `192.0.2.7` or `2001:db8::1`; nil for host names and for anything else.
    public init?(host: String, port: UInt16) {
        let bytes = Array(host.utf8.prefix(Self.longestLiteral + 1))
        guard bytes.count <= Self.longestLiteral else { return nil }
        if let address = IPLiteral.parseIPv4(bytes[...]) {
            self.init(ipv4: address, port: port)
        } else if let address = IPLiteral.parseIPv6(bytes[...]) {
            self.init(ipv6: address, port: port)
        } else {
            return nil
        }
    }

    /// The longest text of an IPv6 address: eight groups with an IPv4 address as the last two.
    private static let longestLiteral = 45

    /// The IPv4 address in host byte order; nil for IPv6.
    public var ipv4: UInt32? { isIPv6 ? nil : UInt32(truncatingIfNeeded: low) }

    /// The IPv6 address as two numbers in host byte order; nil for IPv4.
    public var ipv6: (UInt64, UInt64)? { isIPv6 ? (high, low) : nil }

    /// The address without its port, as RFC 5952 writes it: no brackets, no scope.
    public var host: String {
        isIPv6 ? IPLiteral.formatIPv6(high: high, low: low) : IPLiteral.formatIPv4(UInt32(truncatingIfNeeded: low))
    }

    /// 127.0.0.0/8, ::1, or an IPv4-mapped form of the former.
    public var isLoopback: Bool {
        let address = unmapped
        return address.isIPv6 ? address.high == 0 && address.low == 1 : address.low >> 24 == 127
    }

    /// 0.0.0.0 or ::, "any address".
    public var isUnspecified: Bool {
        let address = unmapped
        return address.high == 0 && address.low == 0
    }

    /// The IPv4 address of an IPv4-mapped IPv6 address (RFC 4291, 2.5.5.2); other addresses unchanged.
    ///
    /// A dual-stack socket names IPv4 peers in the mapped form; compare and store addresses unmapped.
    public var unmapped: TransportAddress {
        guard isIPv6, high == 0, low >> 32 == 0xFFFF else { return self }
        return TransportAddress(ipv4: UInt32(truncatingIfNeeded: low), port: port)
    }

    /// The same address with another port.
    public func with(port: UInt16) -> TransportAddress {
        var address = self
        address.port = port
        return address
    }
}

extension TransportAddress: CustomStringConvertible {
    public var description: String { isIPv6 ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
