import Foundation

/// A STUN or TURN server for joining clients.
public struct ICEServer: Hashable, Sendable {
    /// The reason for which a text names no such server.
    public struct ParseError: Error, CustomStringConvertible, Equatable {
        public let description: String
    }

    /// Its URI: `stun:` or `stuns:` (RFC 7064), `turn:` or `turns:` (RFC 7065).
    public let uri: String
    /// A TURN server's credentials; nil for a STUN server, and for a TURN server whose credentials a secret makes
    /// (`TURNSecret`).
    public let credentials: Credentials?

    /// A name and a long-term password (RFC 8489, section 9.2).
    public struct Credentials: Hashable, Sendable {
        public let username: String
        public let password: String
    }

    /// True if others can use it only with credentials that it does not have.
    public var lacksCredentials: Bool { uri.hasPrefix("turn") && credentials == nil }

    init(uri: String, credentials: Credentials?) {
        self.uri = uri
        self.credentials = credentials
    }

    /// Reads a URI, to whose query `username` and `credential`, percent-encoded, are added for a TURN server:
    /// `turn:turn.example.org?transport=udp&username=ada&credential=secret`.
    public init(parsing text: String) throws(ParseError) {
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let (scheme, authority) = try Self.schemeAndAuthority(parts[0])
        var transport: String?
        var username: String?
        var password: String?
        for field in parts.count > 1 ? parts[1].split(separator: "&", omittingEmptySubsequences: false) : [] {
            let pair = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let value = pair.count > 1 ? pair[1] : ""
            switch pair[0] {
            case "transport" where scheme.hasPrefix("turn") && ["udp", "tcp"].contains(value): transport = String(value)
            case "username": username = try Self.decoded(value, of: "username")
            case "credential": password = try Self.decoded(value, of: "credential")
            default:
                throw ParseError(
                    // The value may be a secret.
                    description: "'\(pair[0])' is not possible here: a turn: URI accepts transport=udp or "
                        + "transport=tcp, username and credential")
            }
        }
        uri = "\(scheme):\(authority)" + (transport.map { "?transport=\($0)" } ?? "")
        switch (scheme.hasPrefix("turn"), username, password) {
        case (true, .some(let username), .some(let password)):
            credentials = Credentials(username: username, password: password)
        case (true, nil, nil): credentials = nil
        case (true, _, _):
            throw ParseError(
                description: "a TURN server needs a user name and a password: add ?username=…&credential=… to its URI")
        case (false, nil, nil): credentials = nil
        case (false, _, _): throw ParseError(description: "leave out username and credential for a STUN server")
        }
    }

    /// Reads servers from the text of a file: one URI a line. Empty lines, and those that begin with `#`, are ignored.
    public static func list(parsing text: String) throws(ParseError) -> [ICEServer] {
        var servers: [ICEServer] = []
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let uri = line.trimmingCharacters(in: .whitespaces)
            guard !uri.isEmpty, !uri.hasPrefix("#") else { continue }
            do throws(ParseError) {
                servers.append(try ICEServer(parsing: uri))
            } catch {
                throw ParseError(description: "line \(index + 1): \(error.description)")
            }
        }
        return servers
    }

    private static func schemeAndAuthority(_ text: Substring) throws(ParseError) -> (Substring, Substring) {
        guard let colon = text.firstIndex(of: ":"), ["stun", "stuns", "turn", "turns"].contains(text[..<colon]) else {
            throw ParseError(description: "give a URI that begins with stun:, stuns:, turn: or turns:")
        }
        let authority = text[text.index(after: colon)...]
        // A host name, an IPv4 address or an IPv6 address in brackets, and perhaps a port (RFC 7064, section 3.1).
        guard let match = authority.wholeMatch(of: #/([A-Za-z0-9.\-]+|\[[0-9A-Fa-f:.]+\])(?::([0-9]{1,5}))?/#),
            match.2.map({ UInt16($0) ?? 0 > 0 }) ?? true
        else { throw ParseError(description: "'\(authority)' is not a host or a host with a port, such as host:3478") }
        return (text[..<colon], authority)
    }

    /// Undoes percent-encoding. The result must fit into a header field.
    private static func decoded(_ text: Substring, of name: String) throws(ParseError) -> String {
        guard let value = text.removingPercentEncoding, !value.isEmpty,
            value.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else { throw ParseError(description: "its \(name) must be visible ASCII characters, percent-encoded") }
        return value
    }

    /// The value of a `Link` field that names it (RFC 9725, section 4.6).
    var link: String {
        var link = "<\(uri)>; rel=\"ice-server\""
        if let credentials {
            link += "; username=\(Self.quoted(credentials.username))"
            link += "; credential=\(Self.quoted(credentials.password)); credential-type=\"password\""
        }
        return link
    }

    /// A quoted string (RFC 9110, section 5.6.4).
    private static func quoted(_ text: String) -> String {
        "\"" + text.flatMap { $0 == "\"" || $0 == "\\" ? ["\\", $0] : [$0] } + "\""
    }
}
