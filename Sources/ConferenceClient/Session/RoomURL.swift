import Foundation

/// The address of a room: `http://host:port/rooms/name`.
public struct RoomURL: Hashable, Sendable, CustomStringConvertible {
    public let host: String
    public let port: Int
    public let room: String
    /// The token or key for `Authorization: Bearer`; nil: none.
    public var token: String?

    /// Parses an address. A room's link may have a token behind it: `#token=…`.
    ///
    /// - Throws: A `ClientError.usage` that describes the mistake.
    public init(_ text: String) throws(ClientError) {
        guard let parts = URLComponents(string: text), let scheme = parts.scheme, let host = parts.host, !host.isEmpty
        else {
            throw .usage(reason: "'\(text)' is no room's address; use one such as http://127.0.0.1:7000/rooms/demo")
        }
        guard scheme == "http" else {
            throw .usage(
                reason: "'\(text)': only http is supported, not \(scheme); use a relay without a certificate, or a "
                    + "port of a reverse proxy that takes http")
        }
        let path = parts.percentEncodedPath.split(separator: "/")
        guard path.count == 2, path[0] == "rooms", parts.query == nil, (1...65_535).contains(parts.port ?? 80) else {
            throw .usage(
                reason: "'\(text)' names no room; use one such as http://\(host):\(parts.port ?? 7000)/rooms/demo")
        }
        // An IPv6 literal stands in brackets in an address and without them elsewhere.
        self.host = host.trimmingCharacters(in: ["[", "]"])
        port = parts.port ?? 80
        room = String(path[1])
        let fragment = parts.fragment ?? ""
        token = fragment.hasPrefix(Self.tokenPrefix) ? String(fragment.dropFirst(Self.tokenPrefix.count)) : nil
    }

    /// The same room at another relay of the cluster, as a redirect or a `Link` names it: the URL of its participants;
    /// nil for another URL.
    init?(participantsURL text: String, token: String?) {
        guard let relay = Self.relay(of: text) else { return nil }
        let path = relay.parts.percentEncodedPath.split(separator: "/")
        guard path.count == 3, path[0] == "rooms", path[2] == "participants" else { return nil }
        self.init(host: relay.host, port: relay.port, room: String(path[1]), token: token)
        let query = (relay.parts.percentEncodedQuery ?? "").split(separator: "&")
        placement = query.first { $0.hasPrefix(Self.placementPrefix) }
            .map { String($0.dropFirst(Self.placementPrefix.count)) }
    }

    private init(host: String, port: Int, room: String, token: String?) {
        self.host = host
        self.port = port
        self.room = room
        self.token = token
    }

    /// The number of times that relays may send a request on.
    static let maximumRedirections = 4

    /// The same room at another relay of the cluster, as a redirect of a request about the room names it, and the path
    /// with the query to ask for there; nil if the redirect leads to anything but this room.
    func redirected(to text: String) -> (url: RoomURL, path: String)? {
        guard let relay = Self.relay(of: text) else { return nil }
        let target = relay.parts.percentEncodedPath
        guard target == path || target.hasPrefix("\(path)/") else { return nil }
        let query = relay.parts.percentEncodedQuery.map { "?\($0)" } ?? ""
        return (RoomURL(host: relay.host, port: relay.port, room: room, token: token), target + query)
    }

    /// Returns the parts of a relay's URL; nil for one that is not by http.
    private static func relay(of text: String) -> (parts: URLComponents, host: String, port: Int)? {
        guard let parts = URLComponents(string: text), parts.scheme == "http", let host = parts.host, !host.isEmpty,
            (1...65_535).contains(parts.port ?? 80)
        else { return nil }
        return (parts, host.trimmingCharacters(in: ["[", "]"]), parts.port ?? 80)
    }

    /// The ticket with which a relay of the cluster sends the client to another; nil: none.
    var placement: String?
    /// The id and key of a session at a relay that is gone; nil: none.
    public var rejoinKey: String?
    /// The key by which the client moderates the room, if it began it; nil: none.
    public var moderatorKey: String?

    private static let tokenPrefix = "token="
    private static let placementPrefix = "placement="

    /// Without the token, which is a secret.
    public var description: String { "http://\(authority)/rooms/\(room)" }

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
