import Foundation
import HTTPTypes
import HummingbirdCore
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

/// Every request, with a token of every role, in every situation.
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
        let now = SignallingClient().time()
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
        let folder = FileManager.default.temporaryDirectory.appending(path: "confrelay-matrix-\(UUID().uuidString)")
            .path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var client = SignallingClient()
        client.keys = try KeyStore(file: file, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        client.recordings = try RecordingStore(settings: RecordingSettings(folder: folder))
        client.streams = LiveStreams()
        client.outputRules = try HostRules(parsing: "*")
        client.playerRules = PlayerRules(folder: folder, hosts: try HostRules(parsing: "*"))
        client.script.state.withLock {
            $0.access = ["demo": RoomAccess()]
            $0.lobby = ["w-1": .waiting]
        }
        let driver = RelayDriver(eventLoop: MultiThreadedEventLoopGroup.singleton.next(), workerCount: 1) {
            [script = client.script] in
            TwinRelay(script)
        }
        let entry = try signer.sign(Self.claims(.moderator, .ownRoom))
        let session = try await client.location(ofJoinAt: driver, token: entry)
        client.script.state.withLock { $0.joinOutcome = .failure(.waits(ticket: "w-1")) }
        let ticket = try await client.location(ofJoinAt: driver, token: entry)
        client.script.state.withLock { $0.joinOutcome = .success(JoinResult(participantID: "p1", answer: "v=0\r\n")) }
        var asked = 0
        for route in client.makeRouter(driver).routes {
            for request in route.requests {
                for role in AccessRole.allCases {
                    for situation in Situation.allCases {
                        let claims = Self.claims(role, situation)
                        let token =
                            situation == .noToken ? nil : try (situation == .wrongKey ? forger : signer).sign(claims)
                        asked += 1
                        // Each request comes from an address of its own: one client may not ask so much.
                        let peer = TransportAddress(ipv4: 0x7F01_0000 + UInt32(asked), port: 50_000)
                        let status = try await client.respond(
                            driver, request.method,
                            path(route, request.requirement, session: session, ticket: ticket),
                            headers: SignallingClient.headers(for: request.method, token: token), from: peer
                        ).status
                        let expected = Self.expected(request.requirement, path: route.path, role: role, situation)
                        #expect(status != .tooManyRequests, "\(request.method) \(route.path)")
                        #expect(
                            Verdict(status: status.code) == expected,
                            "\(request.method) \(route.path), \(role), \(situation): \(status)")
                    }
                }
            }
        }
        await driver.close()
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

extension SignallingClient {
    /// Posts an offer for the room `demo`, and returns the last part of the answer's location.
    fileprivate func location(ofJoinAt driver: RelayDriver, token: String) async throws -> String {
        let answer = try await respond(
            driver, .post, "/rooms/demo/participants", headers: Self.headers(for: .post, token: token), body: "v=0\r\n")
        return try String(#require(answer.headers[.location]?.split(separator: "/").last))
    }

    fileprivate static func headers(for method: HTTPRequest.Method, token: String?) -> HTTPFields {
        var headers: HTTPFields = [.contentType: method == .put ? "application/json" : "application/sdp"]
        headers[.authorization] = token.map { "Bearer \($0)" }
        return headers
    }
}
