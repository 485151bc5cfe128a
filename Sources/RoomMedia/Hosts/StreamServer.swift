import Foundation
import MediaFiles
import SecureTransport

/// The server and the stream that a URL names.
package struct StreamServer: Hashable, Sendable {
    enum Scheme: String, CaseIterable, Sendable {
        case rtmp, rtmps, srt

        /// Nil: there is none.
        var defaultPort: UInt16? {
            switch self {
            case .rtmp: 1935
            case .rtmps: 443
            case .srt: nil
            }
        }
    }

    package typealias ParseError = ServerAddress.ParseError

    let scheme: Scheme
    package let address: ServerAddress
    /// The application of an RTMP server.
    private let application: String
    /// The stream of an RTMP server: a secret.
    private let key: String
    /// The options of an SRT connection, by libavformat's names.
    private let options: [String: String]

    private static let longestURL = 1000
    /// libavformat's bounds.
    private static let longestApplication = 127
    private static let longestKey = 500
    private static let longestUser = 99

    /// Reads a URL such as `rtmp://live.example.org/app/key` or `srt://live.example.org:9000?streamid=key`.
    package init(parsing text: String) throws(ParseError) {
        guard let colon = text.range(of: "://"), let scheme = Scheme(rawValue: text[..<colon.lowerBound].lowercased())
        else {
            let known = Scheme.allCases.map { "\($0.rawValue)://" }.joined(separator: ", ")
            throw ParseError(description: "\"url\" must begin with one of \(known)")
        }
        guard text.utf8.count <= Self.longestURL, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw ParseError(
                description: "\"url\" must have at most \(Self.longestURL) characters of ASCII, and no spaces")
        }
        let rest = text[colon.upperBound...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        let behind = rest[authority.endIndex...]
        address = try ServerAddress(
            parsing: authority, scheme: scheme.rawValue, defaultPort: scheme.defaultPort)
        self.scheme = scheme
        switch scheme {
        case .rtmp, .rtmps:
            (application, key) = try Self.stream(of: behind)
            options = [:]
            guard address.user.map(Self.isUser) ?? true else {
                throw ParseError(
                    description: "what stands before the @ must be a name and a password, name:password@, of at most "
                        + "\(Self.longestUser) characters, which cannot be # @ [ ] or \\")
            }
        case .srt:
            (application, key) = ("", "")
            guard address.user == nil else {
                throw ParseError(description: "SRT takes a passphrase: …?passphrase=, and no name before the host")
            }
            options = try Self.options(of: behind)
        }
    }

    /// libavformat must find the same host in the URL, so nothing may be in front of it that ends the host elsewhere.
    static func isUser(_ text: String) -> Bool {
        text.utf8.count <= longestUser && text.contains(":") && !text.contains { "#@[]\\".contains($0) }
    }

    /// The application is everything up to the last slash of the path, and the stream everything behind it.
    private static func stream(of text: Substring) throws(ParseError) -> (application: String, key: String) {
        let path = text.prefix { $0 != "?" }
        guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else {
            throw ParseError(
                description: "\"url\" needs an application and a stream key: rtmp://host/application/key")
        }
        let application = String(path[path.index(after: path.startIndex)..<slash])
        let key = String(text[path.index(after: slash)...])
        guard !application.isEmpty, !key.isEmpty, !key.hasPrefix("?"),
            application.utf8.count <= longestApplication, key.utf8.count <= longestKey
        else {
            throw ParseError(
                description:
                    "\"url\" needs an application of 1 to \(longestApplication) bytes and a stream key of 1 to "
                    + "\(longestKey): rtmp://host/application/key")
        }
        return (application, key)
    }

    private static let optionNames = "streamid, passphrase, pbkeylen, latency (in milliseconds) and mode=caller"

    private static func options(of text: Substring) throws(ParseError) -> [String: String] {
        let path = text.prefix { $0 != "?" }
        guard path.isEmpty || path == "/" else {
            throw ParseError(description: "SRT has no path; give the stream as …?streamid=")
        }
        var options: [String: String] = [:]
        for field in text.dropFirst(path.count + 1).split(separator: "&") {
            let pair = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let value = (pair.count > 1 ? String(pair[1]) : "").removingPercentEncoding, !value.isEmpty else {
                throw ParseError(description: "the option '\(pair[0].prefix(32))' in \"url\" has no value")
            }
            func check(_ isGood: Bool, _ values: String) throws(ParseError) {
                guard !isGood else { return }
                throw ParseError(description: "the option \(pair[0].prefix(32)) in \"url\" takes \(values)")
            }
            switch pair[0] {
            case "streamid":
                try check(value.utf8.count <= 512, "at most 512 bytes")
                options["streamid"] = value
            case "passphrase":
                try check((10...79).contains(value.utf8.count), "10 to 79 bytes")
                options["passphrase"] = value
            case "pbkeylen":
                try check(["16", "24", "32"].contains(value), "16, 24 or 32")
                options["pbkeylen"] = value
            case "latency":
                let milliseconds = Int(value) ?? 0
                try check((20...8000).contains(milliseconds), "milliseconds, 20 to 8000")
                options["latency"] = String(milliseconds * 1000)
            case "mode": try check(value == "caller", "caller: the relay connects, and does not listen")
            default:
                throw ParseError(
                    description: "there is no option '\(pair[0].prefix(32))' in \"url\"; there are \(optionNames)")
            }
        }
        return options
    }

    /// The URL as everybody may see it: without the stream, names and keys.
    package var shown: String {
        "\(scheme.rawValue)://\(address.shown)\(scheme == .srt ? "" : "/\u{2026}")"
    }

    /// True if it is connected to by name: the server's certificate is checked against the name.
    var isConnectedByName: Bool { scheme == .rtmps && TransportAddress(host: address.host, port: 0) == nil }

    /// The address and options with which libavformat connects to it.
    ///
    /// - Parameter place: The host's address, which was checked.
    func destination(at place: TransportAddress) -> StreamDestination {
        let place = isConnectedByName ? "\(address.host):\(address.port)" : address.literal(at: place)
        switch scheme {
        case .srt:
            var options = options
            options["protocol_whitelist"] = "srt"
            return StreamDestination(url: "srt://\(place)", options: options, container: .mpegTS, name: shown)
        case .rtmp, .rtmps:
            var options = [
                "rtmp_app": application, "rtmp_playpath": key,
                // Servers tell their customers apart by the name.
                "rtmp_tcurl": "\(scheme.rawValue)://\(address.shown)/\(application)",
                "protocol_whitelist": scheme == .rtmp ? "rtmp,tcp" : "rtmps,tls,tcp,httpproxy",
            ]
            if scheme == .rtmps { options["tls_verify"] = "1" }
            return StreamDestination(
                url: "\(scheme.rawValue)://\(address.user.map { "\($0)@" } ?? "")\(place)/\(application)/\(key)",
                options: options, container: .flv, name: shown)
        }
    }
}
