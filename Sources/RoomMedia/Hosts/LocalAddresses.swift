import NIOCore
import NIOPosix
package import SecureTransport

/// The addresses of this machine's interfaces.
package enum LocalAddresses {
    /// The addresses of all interfaces now; their ports are zero.
    static func all() -> [TransportAddress] {
        let devices = (try? System.enumerateDevices()) ?? []
        return devices.compactMap { $0.address.flatMap { TransportAddress($0) } }
    }

    /// Returns true if an address belongs to one of this machine's interfaces.
    package static func contain(_ address: TransportAddress) -> Bool {
        let sought = address.unmapped
        return all().contains { $0.host == sought.host }
    }

    /// Returns the addresses under which media reaches a socket bound to `bound`, those that other machines can use
    /// first.
    package static func reaching(_ bound: TransportAddress) -> [TransportAddress] {
        guard bound.isUnspecified else { return [bound] }
        let usable = all().filter { $0.scopeID == 0 && (bound.isIPv6 || !$0.isIPv6) }
        let ordered = usable.filter { !$0.isLoopback } + usable.filter(\.isLoopback)
        return ordered.map { $0.with(port: bound.port) }
    }

    /// The address by which others know this machine: the one of before while the machine has it, or else the first
    /// one, to which a loopback address gives way, too.
    package static func lasting(_ former: TransportAddress, in addresses: [TransportAddress]) -> TransportAddress {
        guard let first = addresses.first else { return former }
        return addresses.contains(former) && (first.isLoopback || !former.isLoopback) ? former : first
    }
}
