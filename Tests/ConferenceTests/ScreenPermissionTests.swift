import MediaFixtures
import RoomAPI
import SDP
import Testing

@testable import Conference

/// Who may share a screen, with a join or later.
@Suite struct ScreenPermissionTests {
    private static let screen = OfferParameters.Video(direction: .sendOnly)

    private func setRole(_ role: AccessRole, of client: TestClient, in call: VirtualCall) throws {
        try call.relay.perform(
            .moderate(
                .member(MemberModeration(role: role), participant: client.participantID), by: RoomActor(name: "Mo")),
            room: "demo", now: call.now)
    }

    private func isShown(_ client: TestClient, in call: VirtualCall) throws -> Bool {
        try #require(call.relay.state(ofRoom: "demo")?.participants.first { $0.id == client.participantID }).screenShare
    }

    private func isRefusal(_ error: any Error) -> Bool {
        if case JoinError.mayNotShareScreen = error { true } else { false }
    }

    @Test("a screen share that the role does not permit is refused, until a moderator permits it")
    func participant() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red, grants: MemberGrants(role: .participant))
        #expect {
            try call.join("Ben", grants: MemberGrants(role: .participant)) { $0.screenShare = Self.screen }
        } throws: { isRefusal($0) }
        #expect(call.relay.population.participants == 1)
        #expect { try call.renegotiate(ada) { $0.screenShare = Self.screen } } throws: { isRefusal($0) }
        try setRole(.presenter, of: ada, in: call)
        try call.renegotiate(ada) { $0.screenShare = Self.screen }
        ada.screenShare = .blue
        call.run(for: .seconds(1))
        #expect(try isShown(ada, in: call))
    }

    @Test("who comes back to a relay that was started again does so with a screen, which nobody sees")
    func restarted() throws {
        let call = VirtualCall()
        try call.join("Ben")
        let ada = try call.join(
            "Ada", colour: .red, grants: MemberGrants(role: .participant), adjust: { $0.screenShare = Self.screen },
            adjustRequest: { $0.claimsToReturn = true })
        ada.screenShare = .blue
        call.run(for: .seconds(1))
        #expect(try !isShown(ada, in: call))
    }

    @Test(
        "who may not share any more comes back with the screen that was shared, which nobody sees, also after long",
        arguments: [1, 20])
    func demoted(seconds: Int) throws {
        let call = VirtualCall()
        try call.join("Ben")
        let ada = try call.join("Ada", colour: .red) { $0.screenShare = Self.screen }
        call.run(for: .seconds(1))
        try setRole(.participant, of: ada, in: call)
        _ = call.act { relay, now in relay.leave(room: "demo", participant: ada.participantID, now: now) }
        call.remove(ada)
        call.run(for: .seconds(seconds))
        let again = try call.join(
            "Ada", colour: .red, returningAs: ada.participantID, grants: MemberGrants(role: .participant)
        ) { $0.screenShare = Self.screen }
        again.screenShare = .blue
        call.run(for: .seconds(1))
        #expect(try !isShown(again, in: call))
    }
}
