import Glibc
import SecureTransport

/// Looks up the addresses of a host. It waits for name servers: not for the relay's loop.
enum HostResolver {
    /// The most addresses of a name that are looked at.
    private static let most = 16

    /// The host's name has no address.
    struct NotFound: Error {
        /// The system's words for it, if it has any.
        var detail: String?
    }

    /// All addresses of a host, in the order in which the system would try them.
    ///
    /// - Parameter host: A name, or an address without brackets.
    static func addresses(of host: String, port: UInt16) throws(NotFound) -> [TransportAddress] {
        if let literal = TransportAddress(host: host, port: port) { return [literal] }
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        // One entry for each address.
        hints.ai_protocol = CInt(IPPROTO_TCP)
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, nil, &hints, &list)
        guard status == 0 else {
            throw NotFound(detail: String(cString: gai_strerror(status)))
        }
        defer { freeaddrinfo(list) }
        var addresses: [TransportAddress] = []
        var entry = list
        while let current = entry, addresses.count < most {
            entry = current.pointee.ai_next
            let bytes = UnsafeRawBufferPointer(start: current.pointee.ai_addr, count: Int(current.pointee.ai_addrlen))
            guard let address = TransportAddress(systemAddress: bytes)?.with(port: port),
                !addresses.contains(address)
            else { continue }
            addresses.append(address)
        }
        guard !addresses.isEmpty else { throw NotFound() }
        return addresses
    }
}
