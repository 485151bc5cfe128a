import Foundation
import MediaFiles
import NIOCore
import SecureTransport

/// The address of a room: `https://host:port/rooms/name`, or by `http`.
public struct RoomURL: Hashable, Sendable, CustomStringConvertible {
    private(set) var scheme: Scheme
    public private(set) var host: String
    public private(set) var port: Int
    public private(set) var room: String
    /// The token or key for `Authorization: Bearer`; nil: none.
    public var token: String?
    /// The certificates in PEM that the relay's is checked with; nil: the system's.
    private(set) var trustedCertificates: [UInt8]?

    enum Scheme: String {
        case http, https

        var defaultPort: Int { self == .http ? 80 : 443 }
    }

    /// Parses an address. A room's link may have a token behind it: `#token=…`.
    ///
    /// - Throws: A `ClientError.usage` that describes the mistake.
    public init(_ text: String) throws(ClientError) {
        guard let parts = URLComponents(string: text), let scheme = parts.scheme.flatMap(Scheme.init),
            let host = parts.host, !host.isEmpty
        else {
            throw .usage(reason: "'\(text)' is no room's address; use one such as http://127.0.0.1:7000/rooms/demo")
        }
        let path = parts.percentEncodedPath.split(separator: "/")
        let port = parts.port ?? scheme.defaultPort
        guard (1...65_535).contains(port) else { throw .usage(reason: "the port in '\(text)' is not 1 to 65535") }
        guard path.count == 2, path[0] == "rooms", parts.query == nil else {
            throw .usage(
                reason: "'\(text)' names no room; use one such as \(scheme)://\(host):\(parts.port ?? 7000)/rooms/demo")
        }
        self.scheme = scheme
        self.port = port
        // An IPv6 literal stands in brackets in an address and without them elsewhere.
        self.host = host.trimmingCharacters(in: ["[", "]"])
        room = String(path[1])
        let fragment = parts.fragment ?? ""
        token = fragment.hasPrefix(Self.tokenPrefix) ? String(fragment.dropFirst(Self.tokenPrefix.count)) : nil
    }

    /// Has the relay's certificate checked with those in a file, and with no others.
    ///
    /// - Throws: `ClientError.unreadableInput`.
    public mutating func trust(certificatesIn path: String) throws(ClientError) {
        let bytes = try ClientError.rethrowing { () throws(MediaFileError) in
            try InputFile(path: path).readToEnd(limit: Self.maximumCertificateSize)
        }
        let certificates = Array(bytes.readableBytesView)
        do {
            try PEMCheck.check(certificates: certificates)
        } catch {
            throw .unreadableInput(path: path, reason: error.description)
        }
        trustedCertificates = certificates
    }

    /// The same room at another relay of the cluster, as a redirect or a `Link` names it: the URL of its participants;
    /// nil for another URL.
    func relocated(to participantsURL: String) -> RoomURL? {
        guard let relay = relay(of: participantsURL) else { return nil }
        let path = relay.parts.percentEncodedPath.split(separator: "/")
        guard path.count == 3, path[0] == "rooms", path[2] == "participants" else { return nil }
        var url = relay.url
        url.room = String(path[1])
        let query = (relay.parts.percentEncodedQuery ?? "").split(separator: "&")
        url.placement = query.first { $0.hasPrefix(Self.placementPrefix) }
            .map { String($0.dropFirst(Self.placementPrefix.count)) }
        return url
    }

    /// The number of times that relays may send a request on.
    static let maximumRedirections = 4

    /// The same room at another relay of the cluster, as a redirect of a request about the room names it, and the path
    /// with the query to ask for there; nil if the redirect leads to anything but this room.
    func redirected(to text: String) -> (url: RoomURL, path: String)? {
        guard let (parts, url) = relay(of: text) else { return nil }
        let target = parts.percentEncodedPath
        guard target == path || target.hasPrefix("\(path)/") else { return nil }
        return (url, target + (parts.percentEncodedQuery.map { "?\($0)" } ?? ""))
    }

    /// Returns the parts of a relay's URL, and this room at that relay. Nil if the text is no URL of a relay, or one by
    /// http while this room's is by https: everybody on the way could read the token.
    private func relay(of text: String) -> (parts: URLComponents, url: RoomURL)? {
        guard let parts = URLComponents(string: text), let scheme = parts.scheme.flatMap(Scheme.init),
            scheme == .https || self.scheme == .http, let host = parts.host, !host.isEmpty
        else { return nil }
        var url = self
        url.scheme = scheme
        url.host = host.trimmingCharacters(in: ["[", "]"])
        url.port = parts.port ?? scheme.defaultPort
        return (1...65_535).contains(url.port) ? (parts, url) : nil
    }

    /// The ticket with which a relay of the cluster sends the client to another; nil: none.
    var placement: String?
    /// The id and key of a session at a relay that is gone; nil: none.
    public var rejoinKey: String?
    /// The key by which the client moderates the room, if it began it; nil: none.
    public var moderatorKey: String?

    private static let tokenPrefix = "token="
    private static let placementPrefix = "placement="
    /// The most bytes of a file of certificates: four times those that systems have.
    private static let maximumCertificateSize = 1 << 20

    /// Without the token, which is a secret.
    public var description: String { address(of: path) }

    /// The URL of something at the relay.
    func address(of path: String) -> String { "\(scheme)://\(authority)\(path)" }

    /// The host and the port as in the `Host` field.
    var authority: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    var path: String { "/rooms/\(room)" }

    /// The path that a participant is posted to.
    func joinPath(name: String, selfView: Bool?, ticket: String? = nil) -> String {
        var unreserved = CharacterSet.alphanumerics.intersection(CharacterSet(charactersIn: "\0"..."~"))
        unreserved.insert(charactersIn: "-._~")
        let name = name.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
        let selfView = selfView.map { "&self-view=\($0 ? "always" : "never")" } ?? ""
        let ticket = ticket.map { "&ticket=\($0)" } ?? ""
        let cluster =
            (rejoinKey.map { "&rejoin=\($0)" } ?? "") + (placement.map { "&\(Self.placementPrefix)\($0)" } ?? "")
        return "/rooms/\(room)/participants?name=\(name)\(selfView)\(ticket)\(cluster)"
    }
}
