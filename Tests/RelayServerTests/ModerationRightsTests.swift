import HTTPTypes
import RoomAPI
import Synchronization
import Testing

@testable import Conference
@testable import RelayServer

/// The roles that those who moderate may give.
@Suite struct ModerationRightsTests {
    @Test(
        "who moderates gives nobody more power than their own",
        arguments: [
            (AccessRole.moderator, 403), (.presenter, 403), (.participant, 204), (.viewer, 204),
        ])
    func giving(role: AccessRole, status: Int) async throws {
        let client = SignallingClient()
        client.script.state.withLock {
            $0.access = ["demo": RoomAccess(pin: nil)]
            $0.snapshot.rooms = [RoomSnapshot(id: "demo")]
            $0.grants = [
                "p1": MemberGrants(role: .participant, permissions: [.watch, .moderate]), "p2": .open,
            ]
        }
        for member in ["p1", "p2"] {
            let answer = try await client.send(
                .put, "/rooms/demo/participants/\(member)/moderation",
                headers: [
                    .contentType: "application/json", .authorization: "Bearer \(SignallingClient.session("p1"))",
                ], body: "{\"role\":\"\(role.rawValue)\"}")
            #expect(answer.status.code == status)
        }
    }
}
