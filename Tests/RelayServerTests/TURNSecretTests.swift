import Foundation
import HTTPTypes
import Logging
import RoomAPI
import Testing

@testable import RelayServer

@Suite("Credentials that a secret makes for TURN servers")
struct TURNSecretTests {
    @Test("they expire after a day, name the user, and are what coturn reckons")
    func credentials() throws {
        let server = try ICEServer(parsing: "turn:turn.example.org:3478?transport=udp")
        let completed = try TURNSecret("north\n").completing(
            server, for: "k3v9", at: Date(timeIntervalSince1970: 1_700_000_000.9))
        #expect(completed.uri == server.uri)
        // printf 1700086400:k3v9 | openssl dgst -sha1 -hmac north -binary | base64
        #expect(completed.credentials == .init(username: "1700086400:k3v9", password: "ycWihA+0Rpkob3NmA7dqh+wLPSk="))
    }

    @Test("servers that have credentials, and STUN servers, stay as they are")
    func others() throws {
        for text in ["stun:stun.example.org", "turn:turn.example.org?username=ada&credential=secret"] {
            let server = try ICEServer(parsing: text)
            #expect(try TURNSecret("north").completing(server, for: "k3v9", at: Date()) == server)
        }
    }

    @Test("a secret has one line", arguments: ["", " \n", "a\nb"])
    func refused(text: String) { #expect(throws: ICEServer.ParseError.self) { try TURNSecret(text) } }

    @Test("whoever joins, or asks before it offers, is told credentials of its own")
    func announced() async throws {
        var client = SignallingClient()
        client.iceServers = [try ICEServer(parsing: "turn:turn.example.org")]
        client.turnSecret = try TURNSecret("north")
        let joined = try await client.send(
            .post, "/rooms/demo/participants", headers: [.contentType: "application/sdp"], body: "v=0\r\n")
        #expect(joined.headers[.link]?.contains(#/username="\d+:p1"; credential="[^"]{28}"/#) == true)
        let asked = try await client.send(.options, "/rooms/demo/participants")
        #expect(asked.headers[.link]?.contains(#/username="\d+:guest"/#) == true)
    }

    @Test("where joins take a token, whoever asks without one is told no servers")
    func announcedToBearers() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "keys-\(UUID().uuidString)").path
        try AccessKeys.newFile(.hs256, id: "main").write(toFile: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: file) }
        let store = try KeyStore(file: file, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        var client = SignallingClient()
        client.keys = store
        client.iceServers = [try ICEServer(parsing: "turn:turn.example.org")]
        client.turnSecret = try TURNSecret("north")
        let path = "/rooms/demo/participants"
        let stranger = try await client.send(.options, path)
        #expect(stranger.status == .ok && stranger.headers[.link] == nil)
        let wrong = try await client.send(.options, path, headers: [.authorization: "Bearer a.b.c"])
        #expect(wrong.status == .unauthorized && wrong.headers[.link] == nil)
        let keys = await store.current
        let token = try keys.sign(AccessClaims(room: "demo", role: .viewer))
        let bearer = try await client.send(.options, path, headers: [.authorization: "Bearer \(token)"])
        #expect(bearer.headers[.link]?.contains("credential=") == true)
    }
}
