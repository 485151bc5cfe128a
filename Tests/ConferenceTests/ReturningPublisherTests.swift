import MediaCore
import MediaFixtures
import RoomAPI
import Testing

@testable import Conference

/// Publishers (WHIP) whose network has changed: they publish anew, and have no key of the session that is stuck.
@Suite struct ReturningPublisherTests {
    private static let studio = MemberGrants(role: .participant, identity: "studio@example.org")

    private let call = VirtualCall { $0.maximumParticipants = 2 }

    init() throws {
        try call.join("Ben", colour: .green)
    }

    @discardableResult
    private func publish(_ name: String, grants: MemberGrants = studio) throws -> TestClient {
        try call.join(name, colour: .red, role: .publish, overDTLS: true, grants: grants)
    }

    private var names: [String] { call.relay.snapshot(now: call.now).rooms.flatMap(\.participants).map(\.name) }

    @Test("a publisher of whom nothing comes for 5 s is replaced at once when its identity publishes again")
    func replaced() throws {
        let former = try publish("Studio")
        call.run(for: .seconds(2))
        let mute = RoomCommand.Moderation.member(.init(microphone: .muted), participant: former.participantID)
        try call.act { relay, now in
            try relay.perform(.moderate(mute, by: RoomActor(name: "Mo")), room: "demo", now: now)
        }
        call.remove(former)
        call.run(for: .seconds(4))
        #expect(throws: JoinError.self) { try publish("Too early") }
        call.run(for: .seconds(2))
        #expect(throws: JoinError.self) { try publish("Stranger", grants: .open) }
        #expect(throws: JoinError.self) { try call.join("Watcher", role: .watch, grants: Self.studio) }
        let again = try publish("Studio again")
        #expect(names == ["Ben", "Studio again"])
        call.run(for: .seconds(2))
        #expect(names == ["Ben", "Studio again"])
        let member = call.relay.state(ofRoom: "demo")?.participants.first { $0.id == again.participantID }
        #expect(member?.microphone == false, "a moderator's mute outlasts the session")
    }

    @Test("two devices of one identity publish side by side")
    func sideBySide() throws {
        let call = VirtualCall()
        for name in ["One", "Two"] {
            try call.join(name, colour: .red, role: .publish, overDTLS: true, grants: Self.studio)
            call.run(for: .seconds(8))
        }
        #expect(call.relay.snapshot(now: call.now).rooms.flatMap(\.participants).map(\.name) == ["One", "Two"])
    }
}
