import MediaCore
import RoomAPI
import SecureTransport
import Testing

@testable import Conference

/// The right to read of a room after a moderator has removed somebody.
@Suite struct LookingInTests {
    private func moderate(_ call: VirtualCall, _ moderation: RoomCommand.Moderation) throws {
        let actor = RoomActor(participant: "m", name: "Mo")
        try call.relay.perform(.moderate(moderation, by: actor), room: "demo", now: call.now)
    }

    @Test("who was removed may not look in by their token; who stays at the same address without a name may")
    func lookingIn() throws {
        let call = VirtualCall()
        let elsewhere = TransportAddress(ipv4: 0xC000_0201, port: 1)
        let grants = MemberGrants(role: .participant, identity: "ben@example.org")
        let ben = try call.join("Ben", grants: grants)
        let cy = try call.join("Cy", adjustRequest: { $0.client = elsewhere })
        let dan = try call.join("Dan", adjustRequest: { $0.client = elsewhere })
        call.run(for: .seconds(1))
        #expect(!call.relay.keepsOut(grants, client: elsewhere, ofRoom: "demo"))
        try moderate(call, .remove(participant: ben.participantID, keepOut: true))
        try moderate(call, .remove(participant: cy.participantID, keepOut: true))
        #expect(call.relay.keepsOut(grants, client: nil, ofRoom: "demo"))
        #expect(!call.relay.keepsOut(grants, client: nil, ofRoom: "other"))
        let other = MemberGrants(role: .participant, identity: "eve@example.org")
        #expect(!call.relay.keepsOut(other, client: elsewhere, ofRoom: "demo"))
        #expect(!call.relay.keepsOut(.open, client: elsewhere, ofRoom: "demo"))
        try call.join("Ada")
        try moderate(call, .remove(participant: dan.participantID, keepOut: true))
        #expect(call.relay.keepsOut(.open, client: elsewhere, ofRoom: "demo"))
    }

    @Test("who was removed may not look in by a token of their name, whoever stays at the same address")
    func lookingInByName() throws {
        let call = VirtualCall()
        let home = TransportAddress(ipv4: 0xC000_0201, port: 1)
        func grants(_ name: String) -> MemberGrants {
            var claims = AccessClaims(room: "demo")
            claims.name = name
            return MemberGrants(claims)
        }
        let cy = try call.join("Cy", grants: grants("Cy"), adjustRequest: { $0.client = home })
        try call.join("Dan", grants: grants("Dan"), adjustRequest: { $0.client = home })
        call.run(for: .seconds(1))
        #expect(!call.relay.keepsOut(grants("Cy"), client: home, ofRoom: "demo"))
        try moderate(call, .remove(participant: cy.participantID, keepOut: true))
        #expect(call.relay.keepsOut(grants("Cy"), client: home, ofRoom: "demo"))
        #expect(!call.relay.keepsOut(grants("Dan"), client: home, ofRoom: "demo"))
    }
}
