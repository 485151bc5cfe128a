import Glibc
import NIOCore
import SecureTransport

extension TransportAddress {
    /// The address that a socket names; nil for what is not an internet address.
    ///
    /// IPv4 addresses that a dual-stack socket gives in their IPv6-mapped form come out as IPv4 addresses.
    init?(_ address: SocketAddress) {
        switch address {
        case .v4(let address):
            self.init(
                ipv4: UInt32(bigEndian: address.address.sin_addr.s_addr),
                port: UInt16(bigEndian: address.address.sin_port))
        case .v6(let address):
            let words = withUnsafeBytes(of: address.address.sin6_addr) { bytes in
                (
                    UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                    UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
                )
            }
            let full = TransportAddress(
                ipv6: words, port: UInt16(bigEndian: address.address.sin6_port),
                scopeID: address.address.sin6_scope_id)
            self = full.unmapped
        case .unixDomainSocket:
            return nil
        }
    }

    /// The system's form of an IPv4 address; nil for IPv6.
    var socketAddressIPv4: sockaddr_in? {
        guard let ipv4 else { return nil }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = ipv4.bigEndian
        return address
    }

    /// The system's form of an IPv6 address, and of an IPv4 address as an IPv6 socket takes it (mapped).
    var socketAddressIPv6: sockaddr_in6 {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = port.bigEndian
        address.sin6_scope_id = scopeID
        let words = ipv6 ?? (0, 0xFFFF_0000_0000 | UInt64(ipv4 ?? 0))
        withUnsafeMutableBytes(of: &address.sin6_addr) { bytes in
            bytes.storeBytes(of: words.0.bigEndian, as: UInt64.self)
            bytes.storeBytes(of: words.1.bigEndian, toByteOffset: 8, as: UInt64.self)
        }
        return address
    }
}

extension SocketAddress {
    /// The socket form of a transport address.
    init(_ address: TransportAddress) {
        if let ipv4 = address.socketAddressIPv4 {
            self.init(ipv4)
        } else {
            self.init(address.socketAddressIPv6)
        }
    }
}
