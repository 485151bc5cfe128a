import Foundation
import MediaFiles
import RoomAPI
import SecureTransport

/// Where films and streams may come from.
public struct PlayerRules: Hashable, Sendable {
    /// The folder of films; nil: there is none.
    public var folder: String?
    /// The hosts that may be read from; nil: none.
    public var hosts: HostRules?

    public init(folder: String? = nil, hosts: HostRules? = nil) {
        self.folder = folder
        self.hosts = hosts
    }

    /// The reason for which a target cannot be played, as far as it can be told without a look; nil: it may be tried.
    package func refusal(of target: PlayerTarget) -> String? {
        switch target {
        case .file: return folder == nil ? "this relay has no folder of films; --player-files DIR names one" : nil
        case .rtsp(let address, _):
            // libavformat follows an RTSP server's redirection to anywhere.
            guard hosts?.names(host: address.host) ?? false else {
                return "an RTSP server may send the relay on, so --players-from must name \(address.host) itself"
            }
            return nil
        case .pushed: return nil
        case .http, .stream:
            guard let address = target.address, hosts?.mayPermit(host: address.host) ?? false else {
                return "this relay plays nothing from the host of \(target.shown); its operator can permit it with "
                    + "--players-from"
            }
            return nil
        }
    }

    /// The source, as libavformat opens it. It waits for name servers.
    ///
    /// - Parameter turn: Chooses among the host's addresses.
    func source(of target: PlayerTarget, turn: Int) throws(PlayerFailure) -> MediaSource {
        switch target {
        case .file(let path): return MediaSource(url: "file:\(try file(path))", protocols: "file")
        case .http(_, let url): return MediaSource(url: url, opener: HTTPMediaOpener(rules: hosts))
        case .pushed(let stream): return MediaSource(url: stream.url, opener: stream, isLive: true)
        case .rtsp(let address, let path):
            let place = try place(of: address, turn: turn)
            return MediaSource(
                url: "rtsp://\(address.user.map { "\($0)@" } ?? "")\(address.literal(at: place))\(path)",
                options: ["rtsp_transport": "tcp", "timeout": "10000000"], protocols: "tcp", isSession: true,
                isLive: true)
        case .stream(let server):
            let destination = server.destination(
                at: try place(of: server.address, turn: turn, needsAll: server.isConnectedByName))
            var options = destination.options
            let protocols = options.removeValue(forKey: "protocol_whitelist") ?? ""
            return MediaSource(url: destination.url, options: options, protocols: protocols, isLive: true)
        }
    }

    /// Returns a permitted address of a server.
    private func place(
        of server: ServerAddress, turn: Int, needsAll: Bool = false
    ) throws(PlayerFailure) -> TransportAddress {
        let places = try places(of: server, needsAll: needsAll)
        return places[turn % places.count]
    }

    /// Returns the permitted addresses of a server, of which there is one at least.
    ///
    /// - Parameter needsAll: True if libavformat looks the name up by itself, and might take any of its addresses.
    func places(of server: ServerAddress, needsAll: Bool = false) throws(PlayerFailure) -> [TransportAddress] {
        let addresses: [TransportAddress]
        do throws(HostResolver.NotFound) {
            addresses = try HostResolver.addresses(of: server.host, port: server.port)
        } catch {
            throw PlayerFailure(reason: .nameNotFound, detail: error.detail)
        }
        let permitted = addresses.filter { hosts?.permits($0, ofHost: server.host) ?? false }
        guard !permitted.isEmpty, !needsAll || permitted.count == addresses.count else {
            throw PlayerFailure(
                reason: .notPermitted,
                detail: "the host's address is not public, and the relay's operator has not permitted it")
        }
        return permitted
    }

    /// The path of a file, which lies in the folder with all links followed.
    private func file(_ path: String) throws(PlayerFailure) -> String {
        guard let folder else { throw PlayerFailure(reason: .notPermitted, detail: "there is no folder of films") }
        let root = URL(fileURLWithPath: folder, isDirectory: true).resolvingSymlinksInPath().path
        let file = URL(fileURLWithPath: root).appendingPathComponent(path).resolvingSymlinksInPath().path
        guard file.hasPrefix(root.hasSuffix("/") ? root : "\(root)/") else {
            throw PlayerFailure(reason: .notPermitted, detail: "the file lies outside of the relay's folder")
        }
        let values = try? URL(fileURLWithPath: file).resourceValues(forKeys: [.isRegularFileKey])
        guard values?.isRegularFile ?? false else {
            throw PlayerFailure(reason: .notFound, detail: "the relay's folder has no such file")
        }
        return file
    }
}

/// The reason for which a player cannot go on.
struct PlayerFailure: Error, Hashable {
    var reason: PlayerStatus.Reason
    /// The reason in words, without secrets.
    var detail: String?

    init(reason: PlayerStatus.Reason, detail: String? = nil) {
        self.reason = reason
        self.detail = detail
    }

    init(_ failure: StreamFailure) {
        switch failure {
        case .refused: self.init(reason: .refused)
        case .unreachable: self.init(reason: .unreachable)
        case .timedOut: self.init(reason: .timedOut)
        case .connectionLost: self.init(reason: .connectionLost)
        case .failed(let detail): self.init(reason: .failed, detail: detail)
        }
    }
}
