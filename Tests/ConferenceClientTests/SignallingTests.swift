import Foundation
import HTTPTransfer
import LoopbackServer
import NIOCore
import OpenSSLClient
import RoomAPI
import Testing

@testable import ConferenceClient

@Suite("Requests to the relay")
struct SignallingTests {
    private static let room = #"{"id":"demo","layout":{"layout":"grid"},"participants":[{"id":"a1","name":"Ada"}]}"#

    /// Serves an answer to each connection, with its length, at a free port, and hands out the address of a room there.
    private func withServer(
        _ head: String, _ body: ByteBuffer, _ use: (RoomURL) async throws -> Void
    ) async throws {
        try await ScriptedServer.run([.init(head, body)]) { url, _ in try await use(url) }
    }

    @Test("the state of a room of 300 people is read")
    func longAnswer() async throws {
        let size = 300 * 3000
        try await withServer("200 OK", ByteBuffer(repeating: 0x20, count: size)) { url in
            let answer = try await Signalling(url).exchange(.get, url.path)
            #expect(answer.status == 200 && answer.body.count == size)
        }
    }

    @Test("a request about a room goes to the relay of the cluster that has it")
    func redirection() async throws {
        try await withServer("200 OK", ByteBuffer(string: Self.room)) { owner in
            try await withServer("307 Temporary Redirect\r\nLocation: \(owner)", ByteBuffer()) { asked in
                let report = try await RoomController(url: asked).report()
                #expect(report.participants.map(\.name) == ["Ada"])
            }
        }
    }

    @Test(
        "a redirect that leads away from the room is an error",
        arguments: ["http://127.0.0.1:1/rooms/other", "https://127.0.0.1/rooms/other", ""])
    func refusedRedirection(location: String) async throws {
        try await withServer("307 Temporary Redirect\r\nLocation: \(location)", ByteBuffer()) { url in
            let error = await #expect(throws: ClientError.self) { try await RoomController(url: url).report() }
            #expect(error == .relayRefused(url: "\(url)", status: 307, reason: "it does not say why"))
        }
    }

    @Test("a player is looked for among the room's players, not among all of its people")
    func playerName() async throws {
        let players = ["Talk", "Old"].map { name in
            let state: PlayerStatus.State = name == "Old" ? .ended : .playing
            return PlayerDescription(
                PlayerStatus(id: "player-\(name)", name: name, state: state), url: "film.mp4",
                settings: PlayerSettings())
        }
        let list = try ScriptedServer.Answer("200 OK", ByteBuffer(bytes: JSONEncoder().encode(PlayerList(players))))
        try await ScriptedServer.run([list, .init("204 No Content")]) { url, server in
            try await RoomController(url: url).endPlayer("talk")
            #expect(server.requests == ["GET /rooms/demo/players", "DELETE /rooms/demo/players/player-Talk"])
        }
        for name in ["Ada", "Old"] {
            try await ScriptedServer.run([list]) { url, _ in
                let error = await #expect(throws: ClientError.self) {
                    try await RoomController(url: url).changePlayer(name, PlayerChange(paused: true))
                }
                let reason = "nobody among the room's players is called '\(name)'; present are Talk"
                #expect(error == .usage(reason: reason))
            }
        }
    }

    @Test("who has to show a proof is told the option that takes it, and no header field")
    func missingProof() async throws {
        let proof = ProblemDetails.proofInstruction
        let problem = ByteBuffer(string: #"{"detail":"this takes a moderator: \#(proof) the moderator's key"}"#)
        try await withServer("403 Forbidden", problem) { url in
            let error = await #expect(throws: ClientError.self) {
                try await RoomController(url: url).moderate(.entry(RoomEntry(locked: true)))
            }
            let reason = "this takes a moderator: give --token with the moderator's key"
            #expect(error == .relayRefused(url: "\(url)", status: 403, reason: reason))
        }
    }

    @Test("the room's events are handed out until the task is cancelled")
    func events() async throws {
        try await withServer("200 OK", ByteBuffer(string: "event: moved\ndata: 1\n\n")) { url in
            let (events, continuation) = AsyncStream.makeStream(of: EventStreamParser.Event.self)
            let feed = Task { await Signalling(url).followEvents { for event in $0 { continuation.yield(event) } } }
            #expect(await events.first { _ in true } == .init(name: "moved", data: "1"))
            feed.cancel()
            await feed.value
        }
    }

    // MARK: HTTPS

    /// Serves a room at a relay with a certificate, which is in a file, and hands out the room's address.
    private func withSafeServer(_ use: (RoomURL, _ certificate: TemporaryFile) async throws -> Void) async throws {
        let own = try BareCertificate(isOfLoopback: true)
        let server = try LoopbackServer(own) { connection in
            _ = connection.readRequest()
            connection.answer(200, Self.room)
        }
        let file = TemporaryFile(".pem")
        try Data(own.certificateText).write(to: URL(fileURLWithPath: file.path))
        try await use(RoomURL("https://127.0.0.1:\(server.port)/rooms/demo"), file)
    }

    @Test("a relay is trusted whose certificate is in the file that is named")
    func trusted() async throws {
        try await withSafeServer { url, file in
            var url = url
            try url.trust(certificatesIn: file.path)
            #expect(try await RoomController(url: url).report().participants.map(\.name) == ["Ada"])
        }
    }

    @Test("a relay whose certificate nobody vouches for is refused, with what to do")
    func notTrusted() async throws {
        try await withSafeServer { url, _ in
            let error = await #expect(throws: ClientError.self) { try await RoomController(url: url).report() }
            let text = "\(try #require(error))"
            #expect(text.contains("\(url) is not trusted") && text.contains("--ca"))
        }
    }

    @Test("a relay that speaks HTTP where HTTPS is expected is told as that")
    func noTLS() async throws {
        let server = try LoopbackServer { connection in
            connection.send("HTTP/1.1 400 Bad Request\r\n\r\n")
            connection.waitForEnd()
        }
        let url = try RoomURL("https://127.0.0.1:\(server.port)/rooms/demo")
        let error = await #expect(throws: ClientError.self) { try await RoomController(url: url).report() }
        #expect(error?.description.contains("http://") == true)
    }

    @Test("a relay that speaks HTTPS where HTTP is expected is told as that")
    func onlyTLS() async throws {
        try await withSafeServer { url, _ in
            let url = try RoomURL("http://127.0.0.1:\(url.port)/rooms/demo")
            let error = await #expect(throws: ClientError.self) { try await RoomController(url: url).report() }
            #expect(error?.description.contains("https://") == true)
        }
    }

    @Test("a file without certificates is refused by name")
    func noCertificates() throws {
        let file = TemporaryFile(".pem")
        try Data("hello\n".utf8).write(to: URL(fileURLWithPath: file.path))
        var url = try RoomURL("https://127.0.0.1/rooms/demo")
        for path in [file.path, file.path + ".none"] {
            let error = #expect(throws: ClientError.self) { try url.trust(certificatesIn: path) }
            #expect(error?.exitCode == 66)
            #expect(error?.description.contains(path) == true)
        }
    }
}
