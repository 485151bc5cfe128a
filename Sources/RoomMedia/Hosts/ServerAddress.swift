import SecureTransport

/// The host, the port and the user in a URL.
package struct ServerAddress: Hashable, Sendable {
    /// The reason for which a URL names no server that could be connected to.
    package struct ParseError: Error, CustomStringConvertible, Equatable {
        package let description: String
    }

    /// A name in lower case, or an address without brackets.
    package let host: String
    let port: UInt16
    private let hasPort: Bool
    /// The part of a URL in front of the host, without the `@`.
    let user: String?

    /// Reads what stands between `://` and the path.
    ///
    /// - Parameter defaultPort: The port of the scheme; nil if a URL must name one.
    init(parsing authority: Substring, scheme: String, defaultPort: UInt16?) throws(ParseError) {
        let at = authority.lastIndex(of: "@")
        (host, port, hasPort) = try Self.host(
            of: at.map { authority[authority.index(after: $0)...] } ?? authority, scheme: scheme,
            defaultPort: defaultPort)
        user = at.map { String(authority[..<$0]) }
    }

    private static func host(
        of text: Substring, scheme: String, defaultPort: UInt16?
    ) throws(ParseError) -> (host: String, port: UInt16, hasPort: Bool) {
        let isBracketed = text.hasPrefix("[")
        let end = isBracketed ? text.firstIndex(of: "]") : text.firstIndex(of: ":") ?? text.endIndex
        guard let end else { throw ParseError(description: "the address in \"url\" lacks its closing bracket") }
        let host = (isBracketed ? text[text.index(after: text.startIndex)..<end] : text[..<end]).lowercased()
        let rest = isBracketed ? text[text.index(after: end)...] : text[end...]
        let isHost = isBracketed ? TransportAddress(host: host, port: 0)?.isIPv6 ?? false : isName(host)
        guard isHost else { throw ParseError(description: "\"url\" has no host that could be looked up") }
        guard !rest.isEmpty else {
            guard let port = defaultPort else {
                throw ParseError(description: "\"url\" needs a port: \(scheme)://host:port")
            }
            return (host, port, false)
        }
        guard rest.hasPrefix(":"), let port = UInt16(rest.dropFirst()), port > 0 else {
            throw ParseError(description: "the port in \"url\" must be a number of 1 to 65535")
        }
        return (host, port, true)
    }

    private static func isName(_ text: String) -> Bool {
        (1...253).contains(text.utf8.count) && text.utf8.allSatisfy(HostRules.isInName)
    }

    /// The host and the port, as a URL has them: without the user.
    var shown: String { (host.contains(":") ? "[\(host)]" : host) + (hasPort ? ":\(port)" : "") }

    /// The port at one of the host's addresses, as a URL has them.
    func literal(at place: TransportAddress) -> String {
        "\(place.isIPv6 ? "[\(place.host)]" : place.host):\(port)"
    }
}
