import SecureTransport

/// The hosts that rooms may be sent to, or that films and streams may come from.
///
/// A list of names stands for their public addresses, so that nobody reaches the relay's own network by a name; an
/// address or network in the list is permitted whatever it is.
public struct HostRules: Hashable, Sendable {
    /// The reason for which a text is no list of hosts.
    public struct ParseError: Error, CustomStringConvertible, Equatable {
        public let description: String
    }

    private enum Rule: Hashable, Sendable {
        case everyName
        case name(String)
        /// With the point in front.
        case domain(String)
        case network(NetworkPrefix)
    }

    private var rules: [Rule]
    private static let most = 256

    /// Reads a list such as `live.example.org,*.example.net,192.0.2.0/24,[2001:db8::1]`; `*` is every name and address
    /// that is public.
    public init(parsing text: String) throws(ParseError) {
        rules = []
        for word in text.split(separator: ",", omittingEmptySubsequences: false) {
            let word = String(word).lowercased().trimmingSpaces
            if word == "*" {
                rules.append(.everyName)
            } else if let network = NetworkPrefix(parsing: word) {
                rules.append(.network(network))
            } else {
                let name = word.hasPrefix("*.") ? word.dropFirst(2) : word[...]
                guard (1...253).contains(name.utf8.count), name.utf8.allSatisfy(Self.isInName) else {
                    throw ParseError(
                        description: "'\(word.prefix(64))' is no host; give names, *.domains, addresses, networks "
                            + "(192.0.2.0/24), or * for all public hosts")
                }
                rules.append(word.hasPrefix("*.") ? .domain(".\(name)") : .name(String(name)))
            }
        }
        guard rules.count <= Self.most else {
            throw ParseError(description: "give at most \(Self.most) hosts")
        }
    }

    /// True if names of hosts have this byte, in lower case.
    static func isInName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
            UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// Returns true if a host may be tried, as far as its name tells; its addresses decide.
    package func mayPermit(host: String) -> Bool {
        if let address = TransportAddress(host: host, port: 0) { return permits(address, ofHost: host) }
        // Every resolver takes these for the machine itself (RFC 6761).
        if host == "localhost" || host.hasSuffix(".localhost") {
            return permits(TransportAddress(ipv4: 0x7F00_0001, port: 0), ofHost: host)
        }
        return isListed(host) || rules.contains { if case .network = $0 { true } else { false } }
    }

    /// Returns true if the list has a host itself, its domain or its address, rather than everything.
    func names(host: String) -> Bool {
        var named = self
        named.rules.removeAll { $0 == .everyName }
        return named.mayPermit(host: host)
    }

    /// Returns true if an address may be connected to for a host in a URL.
    ///
    /// - Parameter isOwn: Whether an address is one of this machine.
    func permits(
        _ address: TransportAddress, ofHost host: String, isOwn: (TransportAddress) -> Bool = LocalAddresses.contain
    ) -> Bool {
        let isInNetwork = rules.contains { rule in
            if case .network(let network) = rule { network.contains(address) } else { false }
        }
        return isInNetwork || (isListed(host) && NetworkPrefix.isPublic(address) && !isOwn(address))
    }

    private func isListed(_ host: String) -> Bool {
        let host = host.hasSuffix(".") ? String(host.dropLast()) : host
        return rules.contains { rule in
            switch rule {
            case .everyName: true
            case .name(let name): host == name
            case .domain(let domain): host.hasSuffix(domain)
            case .network: false
            }
        }
    }
}

extension String {
    fileprivate var trimmingSpaces: String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
