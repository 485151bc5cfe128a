import Foundation
import HTTPTypes
import Logging
import MediaCore
import NIOCore
import NIOPosix
import RoomAPI
import SecureTransport
import Synchronization
import Testing

@testable import Conference
@testable import RelayServer
@testable import RoomMedia

/// Every request, with a token of every role, in every situation, against a server on loopback.
@Suite("Who may ask for what")
struct AccessMatrixTests {
    /// The kind of token that comes with a request.
    enum Situation: String, CaseIterable {
        case ownRoom, otherRoom, everyRoom, expired, notYet, wrongKey, noToken
    }

    /// The verdict of the table of roles on a request.
    enum Verdict: Equatable {
        case served, unauthorized, forbidden

        init(status: Int) {
            switch status {
            case 401: self = .unauthorized
            case 403: self = .forbidden
            default: self = .served
            }
        }
    }

    private static let keys = try? AccessKeys.newFile(.hs256, id: "main")
    private static let otherKeys = try? AccessKeys.newFile(.hs256, id: "main")

    private static func claims(_ role: AccessRole, _ situation: Situation) -> AccessClaims {
        let now = Date.now.timeIntervalSince1970
        var claims = AccessClaims(room: "demo", role: role)
        claims.expiry = now + 3600
        switch situation {
        case .otherRoom: claims.room = "other"
        case .everyRoom: claims.room = "*"
        case .expired: claims.expiry = now - 60
        case .notYet: claims.notBefore = now + 600
        case .ownRoom, .wrongKey, .noToken: break
        }
        return claims
    }

    /// The specified verdict, by the table of roles and by the requirement of the request.
    static func expected(
        _ requirement: Requirement, path: String, role: AccessRole, _ situation: Situation
    ) -> Verdict {
        func needs(_ isAllowed: (Set<Permission>) -> Bool, isAboutAllRooms: Bool = false) -> Verdict {
            switch situation {
            case .expired, .notYet, .wrongKey, .noToken: .unauthorized
            case .otherRoom: .forbidden
            case .ownRoom: isAllowed(role.permissions) && !isAboutAllRooms ? .served : .forbidden
            case .everyRoom: isAllowed(role.permissions) ? .served : .forbidden
            }
        }
        switch requirement {
        // These requests come with the key of a session or of a place in the lobby, and need nothing else.
        case .none, .ownSession, .ownTicket: return .served
        // This relay is in no cluster: every caller gets 404.
        case .relaySignature: return .served
        case .needs(let permission), .needsUnlessPage(let permission), .ownSessionOr(let permission):
            return needs { $0.contains(permission) }
        case .needsEverywhere(let permission): return needs({ $0.contains(permission) }, isAboutAllRooms: true)
        case .join:
            let publishes: Set<Permission> = [.microphone, .camera, .screen]
            return needs { permissions in
                if path.hasPrefix("/whip") { return !permissions.isDisjoint(with: publishes) }
                if path.hasPrefix("/whep") { return permissions.contains(.watch) }
                return permissions.contains(.watch) || !permissions.isDisjoint(with: publishes)
            }
        }
    }

    private func write(_ keys: String) throws -> String {
        let path = FileManager.default.temporaryDirectory.appending(path: "confrelay-keys-\(UUID().uuidString)").path
        try keys.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    /// The path of a request in the room `demo`, with the key of a session where it takes one.
    private func path(_ route: Route, _ requirement: Requirement, session: String, ticket: String) -> String {
        let isOwn = requirement == .ownSession
        let filled = route.path.replacing(":room", with: "demo").replacing(":participant", with: isOwn ? session : "p1")
            .replacing(":ticket", with: requirement == .ownTicket ? ticket : "w-1")
        return filled.replacing("**", with: "main.js")
    }

    @Test("is as the tables of roles and requests say, without exception")
    func matrix() async throws {
        let signer = try AccessKeys(parsing: try #require(Self.keys))
        let forger = try AccessKeys(parsing: try #require(Self.otherKeys))
        let file = try write(try #require(Self.keys))
        defer { try? FileManager.default.removeItem(atPath: file) }
        var configuration = RelayServerConfiguration()
        configuration.accessKeys = file
        let recordings = FileManager.default.temporaryDirectory.appending(path: "confrelay-matrix-\(UUID().uuidString)")
            .path
        defer { try? FileManager.default.removeItem(atPath: recordings) }
        configuration.recordings = RecordingSettings(folder: recordings)
        configuration.servesStreams = true
        configuration.outputs = try HostRules(parsing: "*")
        configuration.players = PlayerRules(folder: recordings, hosts: try HostRules(parsing: "*"))
        let script = TwinRelay.Script()
        script.state.withLock {
            $0.access = ["demo": RoomAccess()]
            $0.lobby = ["w-1": .waiting]
        }
        let routes = SignallingClient().makeRouter(
            RelayDriver(eventLoop: MultiThreadedEventLoopGroup.singleton.next(), workerCount: 1) { TwinRelay(script) }
        ).routes
        try await RunningServer.run(configuration, script: script) { server in
            let entry = try signer.sign(Self.claims(.moderator, .ownRoom))
            let session = try await server.location(of: "/rooms/demo/participants", token: entry, from: "127.9.0.1")
            script.state.withLock { $0.joinOutcome = .failure(.waits(ticket: "w-1")) }
            let ticket = try await server.location(of: "/rooms/demo/participants", token: entry, from: "127.9.0.2")
            script.state.withLock { $0.joinOutcome = .success(JoinResult(participantID: "p1", answer: "v=0\r\n")) }
            var asked = 0
            for route in routes {
                for request in route.requests {
                    for role in AccessRole.allCases {
                        for situation in Situation.allCases {
                            let claims = Self.claims(role, situation)
                            let token =
                                situation == .noToken
                                ? nil : try (situation == .wrongKey ? forger : signer).sign(claims)
                            asked += 1
                            let status = try await server.status(
                                request.method, path(route, request.requirement, session: session, ticket: ticket),
                                token: token, from: "127.1.\(asked / 250).\(asked % 250 + 1)")
                            let expected = Self.expected(
                                request.requirement, path: route.path, role: role, situation)
                            #expect(
                                Verdict(status: status) == expected,
                                "\(request.method) \(route.path), \(role), \(situation): \(status)")
                        }
                    }
                }
            }
            let count = routes.reduce(0) { $0 + $1.requests.count }
            #expect(asked == count * AccessRole.allCases.count * Situation.allCases.count)
        }
    }

    @Test("a room's key gets 401 where a request is about all rooms, with keys of tokens and without")
    func noTokenForAllRooms() async throws {
        let file = try write(try #require(Self.keys))
        defer { try? FileManager.default.removeItem(atPath: file) }
        var tokens = SignallingClient()
        tokens.keys = try KeyStore(file: file, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        for client in [SignallingClient(), tokens] {
            for bearer in ["mk-00000000000000000000000000000000", SignallingClient.session("p1")] {
                let answer = try await client.send(
                    .post, "/admin/drain", headers: [.authorization: "Bearer \(bearer)"])
                #expect(answer.status == .unauthorized && answer.detail.contains("all rooms"), "\(bearer)")
            }
        }
        for headers: HTTPFields in [[:], [.authorization: "Bearer abc"]] {
            let open = try await SignallingClient().send(.post, "/admin/drain", headers: headers)
            #expect(open.status == .forbidden && open.detail.contains("all rooms"))
            let closed = try await tokens.send(.post, "/admin/drain", headers: headers)
            #expect(closed.status == .unauthorized)
        }
    }

    @Test("a session's key with another key behind the point, and none, get 403 whatever the token")
    func foreignSession() async throws {
        let client = SignallingClient()
        for name in ["p1", "p1.00000000000000000000"] {
            for (method, path) in [
                (HTTPRequest.Method.patch, "/rooms/demo/participants/\(name)"), (.delete, "/whip/demo/\(name)"),
                (.put, "/rooms/demo/participants/\(name)/media"), (.put, "/rooms/demo/participants/\(name)/avatar"),
                (.get, "/rooms/demo/lobby/\(name)"),
            ] {
                #expect(try await client.send(method, path).status == .forbidden, "\(method) \(path)")
            }
        }
    }
}

extension RunningServer {
    /// Sends a request without a body, and returns the answer's status.
    fileprivate func status(
        _ method: HTTPRequest.Method, _ path: String, token: String?, from host: String
    ) async throws -> Int {
        let answer = try await head(of: request(method, path, token: token), from: host)
        let status = answer.split(separator: " ").dropFirst().first
        return try #require(status.flatMap { Int($0) }, "\(method) \(path): \(answer)")
    }

    /// Posts an offer, and returns the last part of the answer's location.
    fileprivate func location(of path: String, token: String, from host: String) async throws -> String {
        let answer = try await head(
            of: request(.post, path, token: token, body: "v=0\r\n"), from: host)
        let line = answer.split(separator: "\r\n").first { $0.lowercased().hasPrefix("location:") }
        return try String(#require(line?.split(separator: "/").last))
    }

    private func request(
        _ method: HTTPRequest.Method, _ path: String, token: String?, body: String = ""
    ) -> String {
        let proof = token.map { "Authorization: Bearer \($0)\r\n" } ?? ""
        let type = method == .put ? "application/json" : "application/sdp"
        return "\(method.rawValue) \(path) HTTP/1.1\r\nHost: relay\r\nConnection: close\r\n\(proof)"
            + "Content-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    /// The beginning of an answer, which may go on without end.
    private func head(of request: String, from host: String) async throws -> String {
        try await connect(from: host).executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(string: request))
            var answer = ""
            for try await part in inbound {
                answer += String(buffer: part)
                if answer.contains("\r\n\r\n") { break }
            }
            return answer
        }
    }
}
