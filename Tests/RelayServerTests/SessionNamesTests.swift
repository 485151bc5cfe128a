import HTTPTypes
import Synchronization
import Testing

@testable import RelayServer

@Suite("The names of sessions")
struct SessionNamesTests {
    @Test(
        "only the member itself can end, change or mute its session: the public id is not enough",
        arguments: [
            "p1", "p1.", "p1.00000000000000000000", SignallingClient.session("p2").replacing("p2", with: "p1"),
            SignallingClient.session("p1").uppercased(), SignallingClient.session("p1") + "0",
        ])
    func strangers(name: String) async throws {
        let client = SignallingClient()
        let path = "/rooms/demo/participants/\(name)"
        #expect(try await client.send(.delete, path).status == .forbidden)
        #expect(try await client.send(.delete, "/whip/demo/\(name)").status == .forbidden)
        let fragment: HTTPFields = [.contentType: "application/trickle-ice-sdpfrag", .ifMatch: "*"]
        #expect(try await client.send(.patch, path, headers: fragment, body: "").status == .forbidden)
        let json: HTTPFields = [.contentType: "application/json"]
        #expect(try await client.send(.put, path + "/media", headers: json, body: "{}").status == .forbidden)
        #expect(client.script.state.withLock { $0.left.isEmpty && $0.trickles.isEmpty && $0.mediaStates.isEmpty })
    }

    @Test("a session of one room has another name than that of the same id in another room")
    func rooms() throws {
        let sessions = SignallingClient.sessions
        let name = try sessions.name(of: "p1", in: RoomName("demo"))
        #expect(try sessions.participant(ofSession: name, in: RoomName("demo")) == "p1")
        #expect(throws: Problem.self) { try sessions.participant(ofSession: name, in: RoomName("other")) }
    }

    @Test("keys of one server are not those of another")
    func servers() throws {
        var generator = SystemRandomNumberGenerator()
        let names = try (0..<3).map { _ in try SessionNames(using: &generator).name(of: "p1", in: RoomName("demo")) }
        #expect(Set(names).count == 3)
    }
}
