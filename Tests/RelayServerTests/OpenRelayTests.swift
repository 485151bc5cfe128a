import HTTPTypes
import RoomAPI
import Synchronization
import Testing

@testable import Conference
@testable import RelayServer

/// Tokens and keys that clients show to a relay without keys.
@Suite struct OpenRelayTests {
    private let client = SignallingClient()

    init() {
        client.script.state.withLock {
            $0.access = ["demo": RoomAccess()]
            $0.snapshot.rooms = [RoomSnapshot(id: "demo")]
        }
    }

    private func join(_ path: String, authorization: String) async throws -> SignallingClient.Answer {
        try await client.send(
            .post, path, headers: [.contentType: "application/sdp", .authorization: authorization], body: "v=0\r\n")
    }

    @Test(
        "everybody may join and read, whatever token they show, and gets nothing for it",
        arguments: ["Bearer dummy", "Bearer a.b.c", "Bearer a.b", "Bearer", "Basic dXNlcjpwYXNz"])
    func ignoredToken(authorization: String) async throws {
        for path in ["/whip/demo", "/rooms/demo/participants"] {
            #expect(try await join(path, authorization: authorization).status == .created, "\(path)")
        }
        #expect(client.script.state.withLock { $0.requests.map(\.grants) } == [.open, .open])
        let read = try await client.send(.get, "/rooms/demo", headers: [.authorization: authorization])
        #expect(read.status == .ok)
        let end = try await client.send(.delete, "/rooms/demo", headers: [.authorization: authorization])
        #expect(end.status == .forbidden)
    }

    @Test(
        "the key of a room or a session that is over is refused",
        arguments: ["mk-00000000000000000000000000000000", "p1.00000000000000000000"])
    func outdatedKey(key: String) async throws {
        #expect(try await join("/whip/demo", authorization: "Bearer \(key)").status == .unauthorized)
    }
}
