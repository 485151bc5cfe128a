import NIOCore
import Testing

@testable import ConferenceClient

@Suite("Waiting in a lobby")
struct LobbyTests {
    private func state(_ state: String) -> ScriptedServer.Answer {
        .init("200 OK", ByteBuffer(string: "{\"state\":\"\(state)\"}"))
    }

    private func admission(_ url: RoomURL) async throws -> String? {
        try await Lobby(url: url, interval: .zero).admission(at: "/rooms/demo/lobby/t1")
    }

    @Test("a gap in the network costs no place")
    func gap() async throws {
        try await ScriptedServer.run([state("waiting"), .closed, .closed, state("admitted")]) { url, server in
            let ticket = try await admission(url)
            #expect(ticket == "t1")
            #expect(server.requests == Array(repeating: "GET /rooms/demo/lobby/t1", count: 4))
        }
    }

    @Test("a client that a moderator refuses, or that the relay has forgotten, waits no longer")
    func ends() async throws {
        try await ScriptedServer.run([state("waiting"), state("refused")]) { url, _ in
            let error = await #expect(throws: ClientError.self) { try await admission(url) }
            #expect(error == .relayRefused(url: "\(url)", status: 403, reason: "a moderator did not let you in"))
        }
        try await ScriptedServer.run([.init("404 Not Found")]) { url, _ in
            let ticket = try await admission(url)
            #expect(ticket == nil)
        }
    }

    @Test("a client that waits no longer, because its person does not, gives the place up")
    func givesUp() async throws {
        try await ScriptedServer.run([.init("204 No Content")]) { url, server in
            let waiting = Task {
                try await Lobby(url: url, interval: .seconds(3600)).admission(at: "/rooms/demo/lobby/t1")
            }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
            #expect(server.requests == ["DELETE /rooms/demo/lobby/t1"])
        }
    }
}
