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

    @Test(
        "a removal keeps the member out unless it says plainly that they may return",
        arguments: [
            ("", true), ("?may-return=false", true), ("?may-return=true", false), ("?may-return=yes", nil),
            ("?may-return", nil), ("?mayreturn=true", nil),
        ])
    func returning(query: String, keepsOut: Bool?) async throws {
        let client = SignallingClient()
        client.script.state.withLock {
            $0.access = ["demo": RoomAccess(pin: nil)]
            $0.snapshot.rooms = [RoomSnapshot(id: "demo")]
            $0.grants = ["p1": MemberGrants(role: .moderator)]
        }
        let answer = try await client.send(
            .delete, "/rooms/demo/participants/p2\(query)",
            headers: [.authorization: "Bearer \(SignallingClient.session("p1"))"])
        #expect(answer.status == (keepsOut == nil ? .badRequest : .noContent), "\(answer.body)")
        let expected = keepsOut.map { RoomCommand.Moderation.remove(participant: "p2", keepOut: $0) }
        #expect(client.script.state.withLock { $0.moderations.first?.what } == expected)
    }
}
