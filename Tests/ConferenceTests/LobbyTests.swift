import MediaCore
import RoomAPI
import SecureTransport
import Testing

@testable import Conference

/// The people who wait until a moderator lets them into a room.
@Suite struct LobbyTests {
    private func moderate(_ call: VirtualCall, _ moderation: RoomCommand.Moderation) throws {
        try call.relay.perform(.moderate(moderation, by: RoomActor(name: "Mod")), room: "demo", now: call.now)
    }

    /// Tries to join, and returns the place in the lobby.
    private func knock(
        _ call: VirtualCall, _ name: String, ticket: String? = nil, identity: String? = nil,
        from client: TransportAddress? = nil
    ) throws -> String? {
        do {
            let grants = identity.map { MemberGrants(role: .participant, identity: $0) } ?? .open
            try call.join(
                name, grants: grants,
                adjustRequest: {
                    $0.ticket = ticket
                    if let client { $0.client = client }
                })
            return nil
        } catch JoinError.waits(let ticket) {
            return ticket
        }
    }

    @Test("who comes to a room with a lobby waits without a seat until a moderator lets them in, or not")
    func lobby() throws {
        let call = VirtualCall()
        try call.join("Ada")
        try moderate(call, .setEntry(locked: nil, lobby: true, pin: nil))
        let ben = try #require(try knock(call, "Ben"))
        let cy = try #require(try knock(call, "Cy"))
        #expect(call.relay.waiting(inRoom: "demo")?.map(\.name) == ["Ben", "Cy"])
        #expect(call.relay.state(ofRoom: "demo")?.participants.count == 1)
        #expect(call.relay.lobbyState(of: ben, room: "demo", now: call.now) == .waiting)
        #expect(try knock(call, "Ben", ticket: ben) == ben, "who joins while they wait keeps their place")
        #expect(call.relay.waiting(inRoom: "demo")?.count == 2)
        try moderate(call, .answer(waiting: ben, isAdmitted: true))
        try moderate(call, .answer(waiting: cy, isAdmitted: false))
        #expect(call.relay.lobbyState(of: ben, room: "demo", now: call.now) == .admitted)
        #expect(call.relay.lobbyState(of: cy, room: "demo", now: call.now) == .refused)
        #expect(throws: JoinError.self) {
            try call.join(
                "Ben",
                adjustRequest: { request in
                    request.ticket = ben
                    request.offer = ReceivedOffer("v=0")
                })
        }
        #expect(try knock(call, "Ben", ticket: ben) == nil, "a join that failed leaves the admission")
        #expect(try knock(call, "Ben", ticket: ben) != nil, "a ticket is good once")
        #expect(try knock(call, "Cy", ticket: cy) != nil)
        #expect(throws: RoomControlError.nobodyWaits("x")) {
            try moderate(call, .answer(waiting: "x", isAdmitted: true))
        }
    }

    @Test("who gives up the place in the lobby waits no longer, and the moderators are told at once")
    func leaving() throws {
        let call = VirtualCall()
        try call.join("Ada")
        try moderate(call, .setEntry(locked: nil, lobby: true, pin: nil))
        let ben = try #require(try knock(call, "Ben"))
        let cy = try #require(try knock(call, "Cy"))
        try moderate(call, .answer(waiting: cy, isAdmitted: false))
        while call.relay.pollRoomEvent() != nil {}
        #expect(call.relay.leaveLobby(ben, room: "demo"))
        #expect(call.relay.waiting(inRoom: "demo")?.isEmpty == true)
        #expect(call.relay.lobbyState(of: ben, room: "demo", now: call.now) == nil)
        guard case .entryChanged(_, waiting: 0) = call.relay.pollRoomEvent()?.kind else {
            Issue.record("the number of those who wait is not told")
            return
        }
        // Cy was not among those who wait.
        #expect(call.relay.leaveLobby(cy, room: "demo"))
        #expect(call.relay.pollRoomEvent() == nil)
        #expect(!call.relay.leaveLobby(ben, room: "demo") && !call.relay.leaveLobby(ben, room: "other"))
    }

    @Test("who comes again by the same identity, without the ticket, has one place in the lobby")
    func lobbyAgain() throws {
        let call = VirtualCall()
        try call.join("Ada")
        try moderate(call, .setEntry(locked: nil, lobby: true, pin: nil))
        let ben = try #require(try knock(call, "Ben", identity: "ben@example.org"))
        let cy = try #require(try knock(call, "Cy", identity: "cy@example.org"))
        #expect(try knock(call, "Ben", identity: "ben@example.org") == ben)
        #expect(try knock(call, "Ben", ticket: "w-gone", identity: "ben@example.org") == ben)
        #expect(call.relay.waiting(inRoom: "demo")?.map(\.name) == ["Ben", "Cy"])
        try moderate(call, .answer(waiting: ben, isAdmitted: true))
        try moderate(call, .answer(waiting: cy, isAdmitted: false))
        #expect(try knock(call, "Ben", identity: "ben@example.org") == nil)
        #expect(try knock(call, "Ben", identity: "ben@example.org") != nil, "an admission is good once")
        #expect(try knock(call, "Cy", identity: "cy@example.org") != nil)
        #expect(call.relay.waiting(inRoom: "demo")?.map(\.name) == ["Ben", "Cy"])
    }

    @Test("the lobby is bounded, and forgets those who ask no more")
    func lobbyBounds() throws {
        let call = VirtualCall()
        let ada = try call.join("Ada")
        try moderate(call, .setEntry(locked: nil, lobby: true, pin: nil))
        func knocks(_ count: Int, from client: UInt32) -> Int {
            (0..<count).count { _ in
                (try? knock(call, "Ben", from: TransportAddress(ipv4: 0xC000_0200 + client, port: 9))) != nil
            }
        }
        #expect(knocks(RoomLobby.capacity, from: 1) == RoomLobby.capacity / 2, "one address leaves places to others")
        let others = (2...20).map { knocks(RoomLobby.capacity, from: $0) }
        #expect(others.first == RoomLobby.capacity / 4)
        #expect(call.relay.waiting(inRoom: "demo")?.count == RoomLobby.capacity)
        #expect { try knock(call, "Cy") } throws: { if case JoinError.lobbyFull = $0 { true } else { false } }
        call.run(for: RoomLobby.patience + .seconds(2))
        #expect(call.relay.waiting(inRoom: "demo")?.isEmpty == true)
        #expect(try knock(call, "Cy") != nil)
        withExtendedLifetime(ada) {}
    }
}
