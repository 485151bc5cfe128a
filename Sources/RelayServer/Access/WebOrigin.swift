/// The origin of a page (RFC 6454): scheme, host and port.
public struct WebOrigin: Hashable, Sendable, CustomStringConvertible {
    /// The reason for which a text names no origin.
    public struct ParseError: Error, CustomStringConvertible, Equatable {
        public let description: String
    }

    let scheme: String
    /// In lower case; an IPv6 address in its brackets.
    let host: String
    let port: UInt16

    /// Parses an origin as browsers send it, such as `https://calls.example.org` or `http://192.0.2.7:8080`.
    public init(parsing text: String) throws(ParseError) {
        guard let match = text.wholeMatch(of: #/(https?):\/\/([^\/?#@\s]+)\/?/#.ignoresCase()),
            let authority = WebAuthority(String(match.2))
        else {
            throw ParseError(
                description: "'\(text.prefix(80))' is no origin; give one such as https://calls.example.org")
        }
        scheme = match.1.lowercased()
        host = authority.host
        port = authority.port ?? Self.defaultPort(of: scheme)
    }

    static func defaultPort(of scheme: String) -> UInt16 { scheme == "https" ? 443 : 80 }

    public var description: String {
        "\(scheme)://\(host)" + (port == Self.defaultPort(of: scheme) ? "" : ":\(port)")
    }
}

/// A host and perhaps a port, as `Host` fields have them (RFC 9110, section 7.2).
struct WebAuthority: Equatable {
    /// In lower case, without a final dot; an IPv6 address in its brackets.
    let host: String
    let port: UInt16?

    init?(_ text: String) {
        guard text.utf8.count <= Self.maximumLength,
            let match = text.wholeMatch(of: #/([A-Za-z0-9._\-]+|\[[0-9A-Fa-f:.]+\])(?::([0-9]{1,5}))?/#)
        else { return nil }
        if let digits = match.2 {
            guard let number = UInt16(digits), number > 0 else { return nil }
            port = number
        } else {
            port = nil
        }
        let name = match.1.lowercased()
        host = name.hasSuffix(".") ? String(name.dropLast()) : name
    }

    /// A domain name has at most 253 bytes, a port 5.
    private static let maximumLength = 260
}
