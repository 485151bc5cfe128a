import Foundation
import HTTPTypes
import Logging
import MediaCore
import RoomAPI
import SecureTransport
import Synchronization
import Testing

@testable import Conference
@testable import RelayServer
@testable import RoomMedia

@Suite("Tokens, keys and PINs")
struct AccessTests {
    private static let time = 1_700_000_000.0
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func write(_ text: String) throws -> String {
        let path = FileManager.default.temporaryDirectory.appending(path: "confrelay-keys-\(UUID().uuidString)").path
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }

    /// A store whose file is there only until it is read.
    private func store(_ text: String) throws -> KeyStore {
        let path = try write(text)
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try KeyStore(file: path, logger: Self.logger)
    }

    /// A client of a relay that takes tokens, and the keys that sign them.
    private func clientWithKeys() async throws -> (client: SignallingClient, keys: AccessKeys) {
        let keys = try store(AccessKeys.newFile(.hs256, id: "main"))
        var client = SignallingClient()
        client.keys = keys
        return (client, await keys.current)
    }

    private func claims(_ change: (inout AccessClaims) -> Void = { _ in }) -> AccessClaims {
        var claims = AccessClaims(room: "demo", role: .participant)
        claims.expiry = Self.time + 60
        change(&claims)
        return claims
    }

    private func join(
        _ client: SignallingClient, token: String, _ query: String = "", _ endpoint: String = "/rooms/demo/participants"
    ) async throws -> SignallingClient.Answer {
        try await client.send(
            .post, endpoint + query,
            headers: [.contentType: "application/sdp", .authorization: "Bearer \(token)"], body: "v=0\r\n")
    }

    @Test(
        "keys of each algorithm sign and check; a token of one is none of the others",
        arguments: AccessKeys.Algorithm.allCases)
    func algorithms(algorithm: AccessKeys.Algorithm) throws {
        let keys = try AccessKeys(parsing: AccessKeys.newFile(algorithm, id: "main"))
        let token = try keys.sign(claims { $0.name = "Ada" })
        #expect(keys.claims(of: token)?.name == "Ada")
        for other in AccessKeys.Algorithm.allCases {
            let others = try AccessKeys(parsing: AccessKeys.newFile(other, id: "main"))
            #expect(others.claims(of: token) == nil)
        }
        // Another first character of the signature; the last bytes of two valid signatures can be equal.
        var parts = token.split(separator: ".").map(String.init)
        parts[2] = (parts[2].hasPrefix("A") ? "B" : "A") + parts[2].dropFirst()
        #expect(keys.claims(of: parts.joined(separator: ".")) == nil)
        #expect(keys.claims(of: "") == nil)
        #expect(keys.claims(of: String(repeating: "a", count: 5000) + "..") == nil)
    }

    @Test("a token without signature, or that chooses another algorithm than its key's, is none")
    func algorithmConfusion() throws {
        let keys = try AccessKeys(parsing: AccessKeys.newFile(.es256, id: "main"))
        let parts = try keys.sign(claims()).split(separator: ".")
        for header in [
            #"{"alg":"none","kid":"main"}"#, #"{"alg":"HS256","kid":"main"}"#, #"{"alg":"ES256","kid":"other"}"#,
        ] {
            let head = Base64URL.encode(Array(header.utf8))
            for token in ["\(head).\(parts[1]).", "\(head).\(parts[1]).\(parts[2])"] {
                #expect(keys.claims(of: token) == nil, "\(header)")
            }
        }
    }

    @Test("a relay with the public half checks tokens, and makes none")
    func publicHalf() throws {
        for algorithm in [AccessKeys.Algorithm.es256, .edDSA] {
            let file = try AccessKeys.newFile(algorithm, id: "main")
            let whole = try AccessKeys(parsing: file)
            let half = try AccessKeys(parsing: file.replacing(#/"d" : "[^"]*",?/#, with: ""))
            let token = try whole.sign(claims())
            #expect(half.claims(of: token) != nil)
            #expect(throws: AccessKeys.Failure.self) { try half.sign(claims()) }
        }
    }

    @Test(
        "files that hold no keys are told",
        arguments: [
            "", "{}", #"{"keys":[]}"#, #"{"keys":[{"kty":"oct","kid":"a","k":"c2hvcnQ"}]}"#,
            #"{"keys":[{"kty":"RSA","kid":"a"}]}"#, #"{"keys":[{"kty":"EC","crv":"P-256","kid":"a","x":"!","y":"!"}]}"#,
        ])
    func malformedKeys(text: String) throws {
        #expect(throws: AccessKeys.Failure.self) { try AccessKeys(parsing: text) }
        #expect(throws: StartupError.self) { try store(text) }
    }

    @Test("a room's pattern stands for the rooms that it fits")
    func patterns() {
        for (pattern, room, isCovered) in [
            ("demo", "demo", true), ("demo", "demo2", false), ("*", "x", true), ("team-*", "team-a", true),
            ("team-*", "team", false), ("*-a", "team-a", true), ("a*b*c", "axbxc", true), ("a*b*c", "acb", false),
            ("a*a", "a", false), ("**", "x", true),
        ] {
            #expect(AccessClaims(room: pattern).covers(room: room) == isCovered, "\(pattern) \(room)")
        }
    }

    @Test("claims change what the role may do")
    func permissions() {
        var claims = AccessClaims(room: "demo", role: .participant)
        claims.publish = [.screen, .moderate]
        claims.watch = false
        claims.record = true
        #expect(claims.permissions == [.screen, .record])
        #expect(AccessClaims(room: "x", role: .recorder).isHidden && !claims.isHidden)
    }

    @Test("a join takes name, role and rights from the token; a viewer only watches, a sender only sends")
    func joining() async throws {
        let (client, keys) = try await clientWithKeys()
        let ada = try keys.sign(
            claims {
                $0.name = "Ada"
                $0.identity = "ada@example.org"
            })
        #expect(try await join(client, token: ada, "?name=Somebody").status == .created)
        let viewer = try keys.sign(claims { $0.role = .viewer })
        #expect(try await join(client, token: viewer, "?name=Cy").status == .created)
        #expect(try await join(client, token: viewer, "", "/whip/demo").status == .forbidden)
        let sender = try keys.sign(claims { $0.watch = false })
        #expect(try await join(client, token: sender).status == .created)
        #expect(try await join(client, token: sender, "", "/whep/demo").status == .forbidden)
        let requests = client.script.state.withLock { $0.requests }
        #expect(requests.map(\.name) == ["Ada", "Cy", "Guest"])
        #expect(requests.map(\.role) == [.sendAndReceive, .watch, .publish])
        #expect(requests[0].grants == MemberGrants(role: .participant, identity: "ada@example.org"))
        #expect(requests.allSatisfy { $0.newModeratorKey == nil })
    }

    @Test("what is no token and no key is told as that, such as a part of a token", arguments: ["abc", "eyJh.eyJl"])
    func noProof(bearer: String) async throws {
        let answer = try await join(clientWithKeys().client, token: bearer)
        #expect(answer.status == .unauthorized)
        #expect(answer.detail.hasPrefix("this is no token, and no key of a session or of a room"))
    }

    @Test("an empty identity in a token is none, and an empty name leaves the name to the join")
    func emptyClaims() async throws {
        let (client, keys) = try await clientWithKeys()
        let token = try keys.sign(claims { ($0.name, $0.identity) = ("", "") })
        #expect(try await join(client, token: token, "?name=Cy").status == .created)
        let request = try #require(client.script.state.withLock { $0.requests }.first)
        #expect(request.name == "Cy" && request.grants == MemberGrants(role: .participant))
    }

    @Test("a new token for a single use is as good as before when the join of a client that comes back fails")
    func singleUseOfReturning() {
        let spent = SpentTokens()
        #expect(spent.spend("t1", expiry: 60, returningAs: "p1", time: 0) == nil)
        spent.giveBack("t1")
        #expect(spent.spend("t1", expiry: 60, returningAs: nil, time: 0) == nil)
        spent.setParticipant("p2", of: "t1")
        #expect(spent.spend("t1", expiry: 60, returningAs: "p2", time: 0) == nil)
        spent.giveBack("t1")
        #expect(spent.spend("t1", expiry: 60, returningAs: nil, time: 0) == .spent)
    }

    @Test("a token for a single use lets one session in, and its client back in; a refused join does not use it up")
    func singleUse() async throws {
        let (client, keys) = try await clientWithKeys()
        let token = try keys.sign(
            claims {
                $0.isSingleUse = true
                $0.id = "t1"
            })
        client.script.state.withLock { $0.joinOutcome = .failure(.roomFull(limit: 1)) }
        #expect(try await join(client, token: token).status == .serviceUnavailable)
        client.script.state.withLock { $0.joinOutcome = .success(JoinResult(participantID: "p1", answer: "v=0\r\n")) }
        #expect(try await join(client, token: token).status == .created)
        #expect(try await join(client, token: token).status == .unauthorized)
        #expect(
            try await join(client, token: token, "?resume=\(SignallingClient.session("p2"))").status == .unauthorized)
        #expect(try await join(client, token: token, "?resume=\(SignallingClient.session("p1"))").status == .created)
        let nameless = try keys.sign(claims { $0.isSingleUse = true })
        #expect(try await join(client, token: nameless).status == .unauthorized)
    }

    @Test("a session's key lets nobody join a relay with keys, whatever its member may")
    func joiningBySession() async throws {
        let client = try await clientWithKeys().client
        client.script.state.withLock {
            $0.access = ["demo": RoomAccess()]
            $0.grants = ["p1": MemberGrants(role: .moderator), "p2": MemberGrants(role: .viewer)]
        }
        for member in ["p1", "p2"] {
            #expect(try await join(client, token: SignallingClient.session(member)).status == .forbidden)
        }
        #expect(client.script.state.withLock { $0.requests }.isEmpty)
    }

    @Test("wrong tokens from an address keep out nobody there who has a right one; very many get 429")
    func wrongTokens() async throws {
        var client = SignallingClient()
        let start = MonotonicInstant.now()
        client.now = { start }
        client.script.state.withLock { $0.snapshot.rooms = [RoomSnapshot(id: "demo")] }
        let keys = try store(AccessKeys.newFile(.es256, id: "main"))
        client.keys = keys
        let right = try await keys.current.sign(claims())
        let wrong = try AccessKeys(parsing: AccessKeys.newFile(.es256, id: "main")).sign(claims())
        let read = { (token: String) in
            try await client.send(.get, "/rooms/demo", headers: [.authorization: "Bearer \(token)"])
        }
        for _ in 0..<20 { #expect(try await read(wrong).status == .unauthorized) }
        #expect(try await read(right).status == .ok)
        #expect(try await join(client, token: right).status == .created)

        let subject = RequestQuotas.Subject.network(ClientNetwork(SignallingClient.loopback))
        for _ in 0..<Int(RequestQuotas.Kind.wrongProof.limits.burst) {
            _ = client.quotas.take(.wrongProof, of: subject, now: start)
        }
        let refused = try await read(wrong)
        #expect(refused.status == .tooManyRequests && refused.headers[.retryAfter] == "1")
    }

    @Test("a token whose bearer a moderator removed reads nothing of the room, unless it is a moderator's")
    func removedBearer() async throws {
        let (client, keys) = try await clientWithKeys()
        client.script.state.withLock {
            $0.keptOut = ["ben"]
            $0.snapshot.rooms = [RoomSnapshot(id: "demo")]
        }
        let read = { (path: String, identity: String, role: AccessRole) in
            let token = try keys.sign(
                claims {
                    $0.identity = identity
                    $0.role = role
                })
            return try await client.send(.get, path, headers: [.authorization: "Bearer \(token)"])
        }
        for path in ["/rooms/demo", "/rooms/demo/events", "/rooms/demo/overlays"] {
            let answer = try await read(path, "ben", .participant)
            #expect(answer.status == .forbidden && answer.detail == JoinError.keptOut.description, "\(path)")
        }
        #expect(try await read("/rooms/demo", "ada", .participant).status == .ok)
        #expect(try await read("/rooms/demo", "ben", .moderator).status == .ok)
    }

    // MARK: Open relays

    private func openRoom(_ client: SignallingClient, pin: [UInt8]? = nil) {
        client.script.state.withLock {
            $0.access = ["demo": RoomAccess(pin: pin)]
            $0.snapshot.rooms = [RoomSnapshot(id: "demo")]
            $0.grants = ["p1": MemberGrants(role: .moderator), "p2": .open]
        }
    }

    @Test("who begins a room is told the key that moderates it; other keys and members do not")
    func moderatorKey() async throws {
        let client = SignallingClient()
        openRoom(client)
        client.script.state.withLock {
            $0.joinOutcome = .success(JoinResult(participantID: "p1", answer: "v=0\r\n", moderatesByKey: true))
        }
        let joined = try await client.send(
            .post, "/rooms/demo/participants", headers: [.contentType: "application/sdp"], body: "v=0\r\n")
        let key = try #require(joined.headers[.moderatorKey])
        client.script.state.withLock { $0.access["demo"]?.moderatorKey = $0.requests.last?.newModeratorKey }
        let end = { (proof: String?) in
            var headers: HTTPFields = [:]
            headers[.authorization] = proof.map { "Bearer \($0)" }
            return try await client.send(.delete, "/rooms/demo", headers: headers).status
        }
        #expect(try await end(key) == .noContent)
        #expect(try await end(SignallingClient.session("p1")) == .noContent)
        #expect(try await end(SignallingClient.session("p2")) == .forbidden)
        #expect(try await end(nil) == .forbidden)
        #expect(try await end("mk-00000000000000000000000000000000") == .unauthorized)
        let again = try await client.send(
            .post, "/rooms/demo/participants", headers: [.contentType: "application/sdp", .moderatorKey: key],
            body: "v=0\r\n")
        #expect(again.status == .created && again.headers[.moderatorKey] != key)
        let shown = client.script.state.withLock { ($0.requests.last?.moderatorKey, $0.access["demo"]?.moderatorKey) }
        #expect(shown.0 != nil && shown.0 == shown.1)
        client.script.state.withLock { $0.access["demo"]?.moderatorKey = $0.requests.last?.newModeratorKey }
        #expect(try await end(key) == .unauthorized, "of a room that ended")
        let acts = client.script.state.withLock { $0.moderations }
        #expect(acts.map(\.by.participant) == [nil, "p1"])
    }

    @Test("a moderator whose token has an empty name is named by their identity, or as a moderator")
    func emptyName() async throws {
        let (client, keys) = try await clientWithKeys()
        openRoom(client)
        for identity in ["ben", nil] {
            let token = try keys.sign(claims { ($0.name, $0.identity, $0.role) = ("", identity, .moderator) })
            let act = try await client.send(.delete, "/rooms/demo/hands", headers: [.authorization: "Bearer \(token)"])
            #expect(act.status == .noContent)
        }
        #expect(client.script.state.withLock { $0.moderations }.map(\.by.name) == ["ben", "a moderator"])
    }

    @Test("a PIN is kept as a hash that another of the same PIN does not equal")
    func pinHash() async throws {
        let pins = RoomPIN()
        let (one, two) = (try await pins.record(of: "271828"), try await pins.record(of: "271828"))
        #expect(one != two)
        #expect(try await pins.matches("271828", record: one))
        #expect(try await pins.matches("271828", record: two))
        #expect(try await !pins.matches("271829", record: one))
        #expect(try await !pins.matches("", record: one))
        #expect(try await !pins.matches("271828", record: []))
        await #expect { try await pins.record(of: "123") } throws: { ($0 as? Problem)?.errors.first?.path == "pin" }
    }

    @Test("five wrong PINs from an address get 401, the sixth 429 even if it is right; others go on")
    func wrongPINs() async throws {
        var client = SignallingClient()
        let start = MonotonicInstant.now()
        client.now = { start }
        let record = try await RoomPIN().record(of: "271828")
        openRoom(client, pin: record)
        let join = { (pin: String, host: UInt32) in
            try await client.send(
                .post, "/rooms/demo/participants", headers: [.contentType: "application/sdp", .roomPIN: pin],
                body: "v=0\r\n", from: TransportAddress(ipv4: host, port: 1))
        }
        for _ in 0..<20 { #expect(try await join("271828", 0x7F00_0002).status == .created) }
        for _ in 0..<5 {
            let answer = try await join("000000", 0x7F00_0001)
            #expect(answer.status == .unauthorized && answer.headers[.wwwAuthenticate] == "PIN")
        }
        let refused = try await join("271828", 0x7F00_0001)
        #expect(refused.status == .tooManyRequests && refused.headers[.retryAfter] == "10")
        // More tries than the room has for all: those that are not looked at use up none of them.
        for _ in 0..<80 { #expect(try await join("000000", 0x7F00_0001).status == .tooManyRequests) }
        #expect(try await join("271828", 0x7F00_0002).status == .created)
        #expect(client.script.state.withLock { $0.requests.allSatisfy { $0.provenPIN == record } })
        // A client outside the room does not see who is in it.
        #expect(try await client.send(.get, "/rooms/demo").status == .unauthorized)
        let headers: HTTPFields = [.authorization: "Bearer \(SignallingClient.session("p2"))"]
        let guesser = TransportAddress(ipv4: 0x7F00_0001, port: 1)
        #expect(
            try await client.send(.get, "/rooms/demo", headers: headers, from: guesser).status == .ok,
            "a key cannot be guessed")
    }

    @Test("who is not in a room with a lock or a lobby may watch its stream, and change nothing")
    func guardedRoom() async throws {
        let client = SignallingClient()
        openRoom(client)
        client.script.state.withLock { $0.access["demo"]?.hasLockOrLobby = true }
        let arrange = { (proof: String?) in
            var headers: HTTPFields = [.contentType: "application/json"]
            headers[.authorization] = proof.map { "Bearer \($0)" }
            return try await client.send(.put, "/rooms/demo/layout", headers: headers, body: #"{"layout":"grid"}"#)
                .status
        }
        #expect(try await arrange(nil) == .unauthorized)
        #expect(try await arrange(SignallingClient.session("p2")) == .noContent)
        #expect(try await client.send(.get, "/rooms/demo").status == .ok)
        client.script.state.withLock { $0.access["demo"]?.hasLockOrLobby = false }
        #expect(try await arrange(nil) == .noContent)
    }
}
