import LoadControl
import MediaCore
import MediaFixtures
import RoomAPI
import SecureTransport
import Testing

@testable import Conference

/// Clients that come back a moment after they left, when there is no seat for others.
@Suite struct ReturningParticipantTests {
    /// A full room of two: Ada and Ben.
    private func fullRoom() throws -> (call: VirtualCall, ada: TestClient, ben: TestClient) {
        let call = VirtualCall { $0.maximumParticipants = 2 }
        let ada = try call.join("Ada", colour: .red, overDTLS: true)
        let ben = try call.join("Ben", colour: .green)
        call.run(for: .seconds(2))
        return (call, ada, ben)
    }

    private func leave(_ client: TestClient, _ call: VirtualCall) {
        #expect(call.relay.leave(room: "demo", participant: client.participantID, now: call.now))
        call.remove(client)
    }

    private func names(_ call: VirtualCall) -> [String] {
        call.relay.snapshot(now: call.now).rooms.flatMap(\.participants).map(\.name)
    }

    @Test("A client that left is let in again within 15 s, although another has taken the last seat")
    func afterLeaving() throws {
        let (call, ada, _) = try fullRoom()
        leave(ada, call)
        try call.join("Cy", colour: .blue)
        call.run(for: .seconds(10))
        #expect(throws: JoinError.self) { try call.join("Stranger", colour: .blue) }
        #expect(throws: JoinError.self) { try call.join("Liar", colour: .blue, returningAs: "another") }
        try call.join("Ada again", colour: .red, overDTLS: true, returningAs: ada.participantID)
        call.run(for: .seconds(12))
        #expect(names(call) == ["Ben", "Cy", "Ada again"])
    }

    @Test("A client that comes back has its hand raised as before")
    func raisedHand() throws {
        let (call, ada, _) = try fullRoom()
        func raise(_ hand: Bool, _ client: TestClient) throws {
            try call.relay.perform(
                .setMediaState(MediaState(hand: hand), participant: client.participantID), room: "demo", now: call.now)
        }
        func isRaised(_ client: TestClient) -> Bool? {
            call.relay.state(ofRoom: "demo")?.participants.first { $0.id == client.participantID }?.hand
        }
        try raise(true, ada)
        leave(ada, call)
        let again = try call.join("Ada", colour: .red, returningAs: ada.participantID)
        call.run(for: .seconds(1))
        #expect(isRaised(again) == true)
        try raise(false, again)
        leave(again, call)
        let last = try call.join("Ada", colour: .red, returningAs: again.participantID)
        call.run(for: .seconds(1))
        #expect(isRaised(last) == false)
    }

    @Test("After 15 s it is a join like any other, and a member can come back only once")
    func tooLate() throws {
        let (call, ada, _) = try fullRoom()
        leave(ada, call)
        try call.join("Cy", colour: .blue)
        call.run(for: .seconds(14))
        let again = try call.join("Ada again", colour: .red, returningAs: ada.participantID)
        #expect(throws: JoinError.self) { try call.join("Twice", colour: .red, returningAs: ada.participantID) }
        call.run(for: .seconds(1))
        leave(again, call)
        call.run(for: .seconds(16))
        #expect(throws: JoinError.self) { try call.join("Too late", colour: .red, returningAs: again.participantID) }
        #expect(names(call) == ["Ben", "Cy"])
    }

    @Test("A client that is still in its room takes its own place")
    func stillThere() throws {
        let (call, ada, _) = try fullRoom()
        call.remove(ada)
        try call.join("Ada again", colour: .red, overDTLS: true, returningAs: ada.participantID)
        #expect(names(call) == ["Ben", "Ada again"])
        var reasons: [LeaveReason] = []
        while let notice = call.relay.pollNotice() {
            if case .left(_, let reason, _) = notice { reasons.append(reason) }
        }
        #expect(reasons == [.replaced])
        call.run(for: .seconds(12))
        #expect(names(call) == ["Ben", "Ada again"])
    }

    @Test("A ban of an identity holds for all its sessions, a ban of an address for those who come newly")
    func bannedSession() throws {
        let call = VirtualCall()
        let elsewhere = TransportAddress(ipv4: 0xC000_0201, port: 1)
        let grants = MemberGrants(role: .participant, identity: "ben@example.org")
        try call.join("Ada", colour: .red)
        let one = try call.join("Ben", colour: .green, grants: grants)
        let two = try call.join("Ben", colour: .green, grants: grants)
        let cy = try call.join("Cy", colour: .blue, adjustRequest: { $0.client = elsewhere })
        let di = try call.join("Di", colour: .blue, adjustRequest: { $0.client = elsewhere })
        call.run(for: .seconds(1))
        leave(two, call)
        for removed in [one, cy] {
            let ban = RoomCommand.Moderation.remove(participant: removed.participantID, keepOut: true)
            try call.act { relay, now in
                try relay.perform(.moderate(ban, by: RoomActor(name: "Mo")), room: "demo", now: now)
            }
        }
        #expect {
            try call.join("Ben", returningAs: two.participantID, grants: grants)
        } throws: {
            if case JoinError.keptOut = $0 { true } else { false }
        }
        try call.join("Di", returningAs: di.participantID, adjustRequest: { $0.client = elsewhere })
        #expect(call.relay.state(ofRoom: "demo")?.participants.map(\.name) == ["Ada", "Di"])
    }

    @Test("A room goes on when its only member joins again: locked, recorded and with its layout")
    func onlyMember() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada", colour: .red)
        call.run(for: .seconds(1))
        let lock = RoomCommand.Moderation.setEntry(locked: true, lobby: nil, pin: nil)
        try call.act { relay, now in
            try relay.perform(.moderate(lock, by: RoomActor(name: "Mo")), room: "demo", now: now)
            try relay.perform(.setLayout(.speaker), room: "demo", now: now)
            try relay.perform(.startRecording(id: "r1", RecordingRequest()), room: "demo", now: now)
        }
        _ = call.roomEvents()
        call.remove(ada)
        try call.join("Ada again", colour: .red, returningAs: ada.participantID)
        #expect(!call.roomEvents().contains(.closed))
        let state = try #require(call.relay.state(ofRoom: "demo"))
        #expect(state.entry.locked && state.layout == .speaker && state.recording?.id == "r1")
        #expect(throws: JoinError.self) { try call.join("Stranger", colour: .blue) }
        call.run(for: .seconds(1))
        #expect(names(call) == ["Ada again"])
    }

    @Test("A client that comes back twice before it has connected keeps its place")
    func reloadedTwice() throws {
        let (call, ada, _) = try fullRoom()
        leave(ada, call)
        try call.join("Cy", colour: .blue)
        call.run(for: .seconds(1))
        let second = try call.join("Ada 2", colour: .red, overDTLS: true, returningAs: ada.participantID)
        leave(second, call)
        try call.join("Ada 3", colour: .red, overDTLS: true, returningAs: second.participantID)
        call.run(for: .seconds(12))
        #expect(names(call) == ["Ben", "Cy", "Ada 3"])
    }

    @Test("A client that comes back and does not get through in time keeps its place for another attempt")
    func notThrough() throws {
        let (call, ada, _) = try fullRoom()
        leave(ada, call)
        try call.join("Cy", colour: .blue)
        call.run(for: .seconds(1))
        let second = try call.join("Ada 2", colour: .red, overDTLS: true, returningAs: ada.participantID)
        call.drops = { _, _, client in client === second }
        call.run(for: .seconds(12))
        #expect(names(call) == ["Ben", "Cy"])
        call.remove(second)
        try call.join("Ada 3", colour: .red, overDTLS: true, returningAs: second.participantID)
        call.run(for: .seconds(12))
        #expect(names(call) == ["Ben", "Cy", "Ada 3"])
    }

    @Test("A participant that never connected has no place to come back to")
    func neverConnected() throws {
        let (call, ada, _) = try fullRoom()
        leave(ada, call)
        let unconnected = try call.join("Dot", colour: .red, overDTLS: true)
        leave(unconnected, call)
        try call.join("Cy", colour: .blue)
        call.run(for: .seconds(1))
        #expect(throws: JoinError.self) { try call.join("Dot", colour: .red, returningAs: unconnected.participantID) }
    }

    @Test("A busy relay lets in members that come back, and nobody else")
    func busyRelay() throws {
        let call = VirtualCall { $0.overload = OverloadSettings(workers: 2) }
        call.relay.adopt(.machine(timesSlower: 40), now: call.now)
        let seats = try #require(call.relay.snapshot(now: call.now).overload?.seatsLeft)
        let clients = try (0..<seats).map { try call.join("\($0)", colour: .red) }
        call.run(for: .milliseconds(100))
        leave(clients[0], call)
        // On a machine with time to spare, a seat is granted 3 s after the last join.
        call.run(for: .seconds(4))
        try call.join("Next", colour: .green)
        call.run(for: .milliseconds(50))
        #expect(throws: JoinError.self) { try call.join("Stranger", colour: .blue) }
        try call.join("0 again", colour: .red, returningAs: clients[0].participantID)
        call.run(for: .seconds(1))
        #expect(names(call).contains("0 again"))
        #expect(call.relay.snapshot(now: call.now).joins.withoutSeat == 0)
    }

    @Test("At most 32 participants that left are remembered, each for 15 s")
    func bound() {
        var returning = ReturningParticipants()
        let start = MonotonicInstant.zero
        let rights = Participant.Rights(grants: .open, moderation: ModerationState())
        for index in 0..<100 { returning.add("\(index)", of: "demo", rights: rights, now: start) }
        #expect((0..<100).count { returning.contains("\($0)", of: "demo", now: start) } == 32)
        #expect(returning.contains("99", of: "demo", now: start))
        #expect(!returning.contains("99", of: "other", now: start))
        #expect(!returning.contains("99", of: "demo", now: start + .seconds(15)))
    }
}
