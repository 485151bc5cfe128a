import Foundation
import MediaFiles
import RoomAPI
import SecureTransport

/// The film or stream that a player is to play: a file of the relay's folder, or a URL.
package enum PlayerTarget: Sendable {
    package typealias ParseError = ServerAddress.ParseError

    /// A path under the relay's folder.
    case file(String)
    /// A film or HLS, with all of its URL.
    case http(ServerAddress, url: String)
    /// The path of an RTSP server, with the slash in front.
    case rtsp(ServerAddress, path: String)
    case stream(StreamServer)
    /// Comes to the relay by itself.
    case pushed(PushedStream)

    /// The most bytes of what a request names, and of what a server or a playlist leads to: those URLs may be signed.
    static let longest = 1000
    static let longestFound = 8 << 10

    /// Reads `talk.mp4`, `https://films.example.org/talk.m3u8`, `rtsp://camera.example.org/stream`,
    /// `rtmp://live.example.org/app/key` or `srt://live.example.org:9000?streamid=key`.
    package init(parsing text: String, longest: Int = PlayerTarget.longest) throws(ParseError) {
        guard (1...longest).contains(text.utf8.count) else {
            throw ParseError(description: "\"url\" must have 1 to \(longest) bytes")
        }
        guard let colon = text.range(of: "://") else {
            self = .file(try Self.file(text))
            return
        }
        let scheme = text[..<colon.lowerBound].lowercased()
        let rest = text[colon.upperBound...]
        let authority = rest.prefix { !"/?#".contains($0) }
        let path = String(rest[authority.endIndex...].prefix { $0 != "#" })
        let isPlain = text.utf8.allSatisfy { (0x21...0x7E).contains($0) } && !text.contains("\\")
        switch scheme {
        case "http", "https":
            let address = try ServerAddress(
                parsing: authority, scheme: scheme, defaultPort: scheme == "http" ? 80 : 443)
            guard isPlain, address.user == nil else {
                throw ParseError(
                    description: "\"url\" must be of ASCII without spaces and \\, and without name:password before the "
                        + "host; put a token into its path or query")
            }
            self = .http(address, url: "\(scheme)://\(address.shown)\(path.hasPrefix("/") ? path : "/\(path)")")
        case "rtsp":
            let address = try ServerAddress(parsing: authority, scheme: scheme, defaultPort: 554)
            let isUser = address.user.map { StreamServer.isUser($0) } ?? true
            guard isPlain, isUser else {
                throw ParseError(
                    description: "\"url\" must be of ASCII without spaces and \\, and what stands before the @ must be "
                        + "name:password")
            }
            self = .rtsp(address, path: path.hasPrefix("/") ? path : "/\(path)")
        case "rtmp", "rtmps", "srt": self = .stream(try StreamServer(parsing: text))
        default:
            throw ParseError(
                description: "\"url\" must be a file of the relay's folder, or begin with http://, https://, rtsp://, "
                    + "rtmp://, rtmps:// or srt://")
        }
    }

    private static func file(_ text: String) throws(ParseError) -> String {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        let isPath =
            parts.allSatisfy { !$0.isEmpty && !$0.hasPrefix(".") } && !text.unicodeScalars.contains { $0.value < 32 }
        guard isPath else {
            throw ParseError(
                description: "a file in \"url\" must be a path such as talks/monday.mp4, without .. and hidden names")
        }
        return text
    }

    /// The server; nil for a file.
    var address: ServerAddress? {
        switch self {
        case .file, .pushed: nil
        case .http(let address, _), .rtsp(let address, _): address
        case .stream(let server): server.address
        }
    }

    /// The target as everybody may see it: without paths of URLs, in which keys may stand.
    package var shown: String {
        switch self {
        case .file(let path): path
        case .http(let address, let url): "\(url.prefix { $0 != ":" })://\(address.shown)/\u{2026}"
        case .rtsp(let address, _): "rtsp://\(address.shown)/\u{2026}"
        case .stream(let server): server.shown
        case .pushed(let stream): stream.shown
        }
    }

    /// A name for the tile, if the request has none; no longer than people's names, which a host may be.
    package var name: String {
        guard case .file(let path) = self else {
            return ShownName.made(of: address?.host ?? "")
        }
        let file = path.split(separator: "/").last.map(String.init) ?? path
        return ShownName.made(of: String(file.prefix { $0 != "." }.prefix(32)))
    }

    /// True if it goes on whether it is read or not.
    package var isLive: Bool {
        switch self {
        case .file, .http: false
        case .rtsp, .stream, .pushed: true
        }
    }

    /// True if it can be opened once.
    var isPushed: Bool {
        if case .pushed = self { true } else { false }
    }

    /// Nobody plays it any more.
    func close() {
        if case .pushed(let stream) = self { stream.close() }
    }
}
