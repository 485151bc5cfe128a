import HTTPTypes
import RoomAPI
import Synchronization
import Testing

@testable import Conference
@testable import RelayServer
@testable import RoomMedia

/// The requests of a person who waits in a room's lobby.
@Suite("A place in the lobby")
struct LobbyAccessTests {
    @Test("who has to wait gets 202 and where to ask, with a key that others do not have")
    func lobby() async throws {
        let client = SignallingClient()
        client.script.state.withLock {
            $0.access = ["demo": RoomAccess()]
            $0.joinOutcome = .failure(.waits(ticket: "w-1"))
            $0.lobby = ["w-1": .waiting]
        }
        let answer = try await client.send(
            .post, "/rooms/demo/participants", headers: [.contentType: "application/sdp"], body: "v=0\r\n")
        #expect(answer.status == .accepted && answer.headers[.retryAfter] == "2")
        let location = try #require(answer.headers[.location])
        #expect(try await client.send(.get, location).body == #"{"state":"waiting"}"#)
        #expect(try await client.send(.get, "/rooms/demo/lobby/w-1").status == .forbidden)
        #expect(try await client.send(.get, "/rooms/demo/lobby").status == .forbidden)
        let ticket = try #require(location.split(separator: "/").last)
        _ = try await client.send(
            .post, "/rooms/demo/participants?ticket=\(ticket)", headers: [.contentType: "application/sdp"],
            body: "v=0\r\n")
        #expect(client.script.state.withLock { $0.requests.map(\.ticket) } == [nil, "w-1"])
    }

    @Test("who waits gives up the place by its key, and others cannot")
    func leavesLobby() async throws {
        let client = SignallingClient()
        client.script.state.withLock {
            $0.access = ["demo": RoomAccess()]
            $0.lobby = ["w-1": .waiting]
        }
        #expect(try await client.send(.delete, "/rooms/demo/lobby/w-1").status == .forbidden)
        #expect(client.script.state.withLock { $0.lobby.count } == 1)
        let place = "/rooms/demo/lobby/\(SignallingClient.session("w-1"))"
        #expect(try await client.send(.delete, place).status == .noContent)
        #expect(client.script.state.withLock { $0.lobby.isEmpty })
        #expect(try await client.send(.delete, place).status == .notFound)
        #expect(try await client.send(.get, place).status == .notFound)
    }
}
