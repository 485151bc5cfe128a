import LinkEmulation
import MediaCore
import MediaFixtures
import NIOCore
import OrderedCollections
import RoomAPI
import SDP
import SecureTransport
import Testing

@testable import Conference
@testable import PeerConnection

/// Moderation, layouts and the end of a room that is on several relays.
@Suite("Control of a room on several relays")
struct CascadeControlTests {
    private let actor = RoomActor(name: "Mod")

    /// Two linked relays with Ada and Al at the first, Ben at the second. The first leads the room.
    private func makePair() throws -> (pair: VirtualCascade, ada: TestClient, ben: TestClient) {
        let pair = VirtualCascade(["a", "b"])
        let ben = try pair[1].join("Ben", colour: .blue)
        let ada = try pair[0].join("Ada", colour: .red)
        try pair[0].join("Al", colour: .green)
        pair.run(for: .milliseconds(500))
        try pair.link(1, 0)
        pair[0].relay.setConductedRooms(["demo": 5])
        try #require(pair.run { pair.names(1).count == 3 && pair.names(0).count == 3 && pair.room(1)?.stage != nil })
        return (pair, ada, ben)
    }

    private func moderate(
        _ moderation: RoomCommand.Moderation, at index: Int, of pair: VirtualCascade
    ) throws {
        try perform(.moderate(moderation, by: actor), at: index, of: pair)
    }

    private func perform(_ command: RoomCommand, at index: Int, of pair: VirtualCascade) throws {
        try pair[index].act { relay, now in try relay.perform(command, room: "demo", now: now) }
    }

    private func summary(_ name: String, at index: Int, of pair: VirtualCascade) -> ParticipantSummary? {
        pair[index].relay.state(ofRoom: "demo")?.participants.first { $0.name == name }
    }

    @Test("order of tiles, layout and overlays are those of the relay that leads the room")
    func stage() throws {
        let (pair, ada, _) = try makePair()
        for index in 0...1 { #expect(pair.room(index)?.stageMembers.map(\.name) == ["Ada", "Al", "Ben"]) }
        try perform(.setLayout(RoomLayout(.pinned(participant: ada.participantID))), at: 1, of: pair)
        let pinned = RoomLayout(.pinned(participant: ada.participantID))
        #expect(
            pair.run(until: { pair.room(0)?.layout == pinned && pair.room(1)?.layout == pinned }, limit: .seconds(1)))
        try moderate(.spotlight(participant: nil), at: 1, of: pair)
        #expect(
            pair.run(until: { pair.room(0)?.layout == .grid && pair.room(1)?.layout == .grid }, limit: .seconds(1)))
        // A relay that leads no more changes nothing.
        pair[1].relay.setConductedRooms(["demo": 4])
        try perform(.setLayout(RoomLayout(.speaker)), at: 0, of: pair)
        pair.run(for: .seconds(3))
        for index in 0...1 {
            #expect(pair.room(index)?.layout == RoomLayout(.speaker))
            #expect(pair.room(index)?.stageMembers.map(\.name) == ["Ada", "Al", "Ben"])
        }
        // Nobody leads: each relay decides for itself.
        pair[0].relay.setConductedRooms([:])
        #expect(pair.run(until: { pair.room(1)?.stage == nil }, limit: .seconds(2)))
        // The other one leads.
        pair[1].relay.setConductedRooms(["demo": 6])
        #expect(pair.run(until: { pair.room(0)?.stage?.epoch == 6 }, limit: .seconds(2)))
        #expect(pair.room(0)?.stageMembers.map(\.name) == ["Ben", "Ada", "Al"])
    }

    @Test("everybody sees the same active speaker")
    func speaker() throws {
        let (pair, _, _) = try makePair()
        pair.run(for: .seconds(5))
        let speakers = (0...1).map { pair[$0].relay.state(ofRoom: "demo")?.activeSpeaker }
        #expect(speakers[0] != nil && speakers[0] == speakers[1])
    }

    @Test("a moderator mutes and removes people at another relay, who cannot come back by any")
    func people() throws {
        let (pair, ada, _) = try makePair()
        try moderate(.member(MemberModeration(microphone: .muted), participant: ada.participantID), at: 1, of: pair)
        #expect(pair.run(until: { summary("Ada", at: 1, of: pair)?.muted == true }, limit: .seconds(1)))
        #expect(summary("Ada", at: 0, of: pair)?.muted == true)
        let link = try #require(pair.room(0)?.links["b"])
        #expect(!link.outgoing.keys.contains(CascadeSource(participant: ada.participantID, content: .audio)))
        try moderate(.member(MemberModeration(role: .moderator), participant: ada.participantID), at: 1, of: pair)
        #expect(pair.run(until: { summary("Ada", at: 1, of: pair)?.accessRole == .moderator }, limit: .seconds(1)))
        // The second relay leads now. It decides who may enter, so it has to know the bans.
        pair[1].relay.setConductedRooms(["demo": 7])
        #expect(pair.run(until: { pair.room(0)?.stage?.epoch == 7 }, limit: .seconds(2)))
        let cy = try pair[0].join("Cy", adjustRequest: { $0.client = TransportAddress(ipv4: 0x0a00_0001, port: 9) })
        try #require(pair.run { pair.names(1).contains("Cy") })
        try moderate(.remove(participant: cy.participantID, keepOut: true), at: 1, of: pair)
        #expect(pair.run(until: { !pair.names(0).contains("Cy") && !pair.names(1).contains("Cy") }, limit: .seconds(2)))
        #expect(pair.run(until: { pair.room(1)?.door.isRestrictive == true }, limit: .seconds(1)))
        #expect {
            try pair[1].join("Cy", adjustRequest: { $0.client = TransportAddress(ipv4: 0x0a00_0001, port: 11) })
        } throws: {
            if case JoinError.keptOut = $0 { true } else { false }
        }
        #expect(throws: RoomControlError.noSuchParticipant("nobody")) {
            try moderate(.remove(participant: "nobody", keepOut: false), at: 1, of: pair)
        }
    }

    @Test("those who follow a room at any of its relays hear of each act of a moderator once")
    func acts() throws {
        let (pair, ada, _) = try makePair()
        func heard(_ index: Int) -> (own: [String], others: [String]) {
            let events = pair[index].roomEvents()
            let own = events.compactMap { if case .moderated(let event) = $0 { event.action.rawValue } else { nil } }
            let others = events.compactMap {
                if case .moderatedElsewhere(let event) = $0 { event.action.rawValue } else { nil }
            }
            return (own.sorted(), others.sorted())
        }
        for index in 0...1 { _ = heard(index) }
        try moderate(.member(MemberModeration(microphone: .muted), participant: ada.participantID), at: 1, of: pair)
        try moderate(.spotlight(participant: ada.participantID), at: 0, of: pair)
        try moderate(.lowerHands, at: 0, of: pair)
        try moderate(.setEntry(locked: true, lobby: nil, pin: nil), at: 1, of: pair)
        try moderate(.remove(participant: ada.participantID, keepOut: true), at: 1, of: pair)
        pair.run(for: .seconds(3))
        let (carriedOut, followed) = (heard(0), heard(1))
        #expect(carriedOut.own == ["entryChanged", "handsLowered", "muted", "removed", "spotlight"])
        #expect(carriedOut.others.isEmpty && followed.own == ["handsLowered"])
        #expect(followed.others == ["entryChanged", "muted", "removed", "spotlight"])
        #expect(pair.room(0)?.links["b"]?.acts.waiting.isEmpty == true)
    }

    @Test("of more than 32 acts that wait the oldest is not told, and each that comes is taken once")
    func manyActs() {
        var acts = CascadeActs()
        for _ in 0..<32 { acts.add(ModerationEvent(.muted, by: actor)) }
        acts.add(ModerationEvent(.removed, by: actor))
        #expect(acts.waiting.count == 32 && acts.waiting.last?.event.action == .removed)
        var other = CascadeActs()
        #expect((0..<2).map { _ in other.take(acts.waiting).count } == [32, 0])
        acts.delivered(acts.waiting)
        #expect(acts.waiting.isEmpty)
    }

    @Test("all relays of a room know whom one of them has banned")
    func banEverywhere() throws {
        let three = VirtualCascade(["a", "b", "c"])
        try three[0].join("Ada", colour: .red)
        try three[1].join("Ben", colour: .green)
        try three[2].join("Di", colour: .yellow)
        let cy = try three[2].join("Cy", adjustRequest: { $0.client = TransportAddress(ipv4: 0x0a00_0001, port: 9) })
        three.run(for: .milliseconds(500))
        for (maker, other) in [(1, 0), (2, 0), (2, 1)] { try three.link(maker, other) }
        three[0].relay.setConductedRooms(["demo": 5])
        for index in 0..<3 { try #require(three.run { three.names(index).count == 4 }) }
        try moderate(.remove(participant: cy.participantID, keepOut: true), at: 0, of: three)
        #expect(three.run(until: { !three.names(2).contains("Cy") }, limit: .seconds(2)))
        three.run(for: .seconds(1))
        for index in 0..<3 { #expect(three.room(index)?.door.isRestrictive == true) }
    }

    @Test(
        "the removal of a relay's last participant is told before the links end, or given up", arguments: [true, false])
    func removalOfLast(isBan: Bool) throws {
        for isDead in [false, true] {
            let pair = VirtualCascade(["a", "b"])
            try pair[0].join("Ada", colour: .red)
            let ben = try pair[1].join("Ben", grants: MemberGrants(role: .participant, identity: "ben@example.org"))
            pair.run(for: .milliseconds(500))
            try pair.link(1, 0)
            try #require(pair.run { (0...1).allSatisfy { pair.names($0) == ["Ada", "Ben"] } })
            if isDead { pair.kill(0) }
            _ = pair[1].roomEvents()
            for _ in 0..<2 {
                try moderate(.remove(participant: ben.participantID, keepOut: isBan), at: 1, of: pair)
            }
            #expect(pair.run(until: { pair.room(1) == nil }, limit: .seconds(2)))
            #expect(pair.room(0)?.door.isRestrictive == (isBan && !isDead))
            #expect(pair.room(0)?.door.conditions.removed == (isDead ? [] : [ben.participantID]))
            #expect(pair[1].roomEvents().count { if case .moderated = $0 { true } else { false } } == 1)
            #expect(pair[1].relay.endingRooms.isEmpty)
        }
    }

    @Test("the removal of a relay's last participant holds although another one that was to be told has left meanwhile")
    func removalOfNextLast() throws {
        let pair = VirtualCascade(["a", "b"])
        try pair[0].join("Ada", colour: .red)
        let ben = try pair[1].join("Ben")
        pair.run(for: .milliseconds(500))
        try pair.link(1, 0)
        try #require(pair.run { (0...1).allSatisfy { pair.names($0) == ["Ada", "Ben"] } })
        pair.kill(0)
        try moderate(.remove(participant: ben.participantID, keepOut: false), at: 1, of: pair)
        let cy = try pair[1].join("Cy")
        _ = pair[1].act { relay, now in relay.leave(room: "demo", participant: ben.participantID, now: now) }
        try moderate(.remove(participant: cy.participantID, keepOut: false), at: 1, of: pair)
        #expect(pair.run(until: { pair.room(1) == nil }, limit: .seconds(2)))
        #expect(pair[1].relay.endingRooms.isEmpty)
    }

    @Test("hands are lowered at all relays, once although the answer to the order is lost")
    func hands() throws {
        let (pair, ada, ben) = try makePair()
        for (index, client) in [(0, ada), (1, ben)] {
            try perform(.setMediaState(MediaState(hand: true), participant: client.participantID), at: index, of: pair)
        }
        try #require(pair.run { summary("Ada", at: 1, of: pair)?.hand == true })
        _ = pair[0].roomEvents()
        pair.losesAnswers = true
        try moderate(.lowerHands, at: 1, of: pair)
        pair.run(for: .seconds(2))
        pair.losesAnswers = false
        pair.run(for: .seconds(2))
        let acts = pair[0].roomEvents().count { if case .moderated = $0 { true } else { false } }
        #expect(acts == 1)
        for index in 0...1 {
            #expect(pair[index].relay.state(ofRoom: "demo")?.participants.contains { $0.hand } == false)
        }
        #expect(pair.room(1)?.links["a"]?.orders.waiting.isEmpty == true)
    }

    @Test("the relay that leads the room locks it, all tell so, and the next one that leads it keeps it locked")
    func entry() throws {
        let (pair, _, _) = try makePair()
        try moderate(.setEntry(locked: true, lobby: nil, pin: [1, 2]), at: 1, of: pair)
        #expect(pair.run(until: { pair[1].relay.state(ofRoom: "demo")?.entry.locked == true }, limit: .seconds(1)))
        for index in 0...1 {
            let conditions = pair.room(index)?.door.conditions
            #expect(conditions?.isLocked == true && conditions?.pin == [1, 2])
        }
        pair.kill(0)
        try #require(pair.run { pair.room(1)?.links.isEmpty == true })
        pair[1].relay.setConductedRooms(["demo": 6])
        #expect(pair.room(1)?.door.conditions.pin == [1, 2])
        #expect {
            try pair[1].join("Cy")
        } throws: {
            if case JoinError.locked = $0 { true } else { false }
        }
    }

    @Test("each relay of a room knows that it has a lock or a PIN, which keep those outside from looking in")
    func lookingIn() throws {
        let (pair, _, _) = try makePair()
        func access() throws -> RoomAccess {
            try #require(pair[1].relay.access(ofRoom: "demo", participant: nil))
        }
        #expect(try access().pin == nil && !access().hasLockOrLobby)
        try moderate(.setEntry(locked: true, lobby: nil, pin: nil), at: 0, of: pair)
        pair.run(for: .seconds(2))
        #expect(try access().pin == nil && access().hasLockOrLobby)
        try moderate(.setEntry(locked: false, lobby: nil, pin: [1, 2, 3]), at: 0, of: pair)
        pair.run(for: .seconds(2))
        #expect(try access().pin == [1, 2, 3] && !access().hasLockOrLobby)
    }

    @Test("no relay of a guarded room takes a stranger's stream")
    func strangersStream() throws {
        let (pair, _, _) = try makePair()
        func push(_ id: String) throws {
            let stranger = StreamPublisher(grants: .open, client: nil)
            try perform(.startPlayer(id: id, name: "Studio", publisher: stranger), at: 1, of: pair)
        }
        let guards: [(RoomCommand.Moderation, JoinError)] = [
            (.setEntry(locked: true, lobby: nil, pin: nil), .locked),
            (.setEntry(locked: false, lobby: true, pin: nil), .locked),
            (.setEntry(locked: nil, lobby: false, pin: [1, 2, 3]), .pinNeeded),
        ]
        for (moderation, refusal) in guards {
            try moderate(moderation, at: 0, of: pair)
            pair.run(for: .seconds(2))
            #expect(throws: RoomControlError.notAdmitted(reason: refusal.description)) { try push("player-1") }
        }
        try moderate(.setEntry(locked: nil, lobby: nil, pin: []), at: 0, of: pair)
        pair.run(for: .seconds(2))
        try push("player-2")
    }

    @Test("the end of a room ends it at all relays, also if one does not answer")
    func end() throws {
        for isDead in [false, true] {
            let (pair, _, _) = try makePair()
            if isDead { pair.kill(0) }
            try moderate(.end, at: 1, of: pair)
            #expect(pair.run(until: { pair.room(1) == nil }, limit: .seconds(2)))
            #expect(isDead || pair.room(0) == nil)
            #expect(pair[1].relay.links.isEmpty && pair[1].relay.remoteMembers.isEmpty)
            #expect(pair[1].relay.endingRooms.isEmpty)
        }
    }

    @Test("the end of a room waits for a link that has yet to connect, and not for long", arguments: [true, false])
    func endWhileConnecting(isDead: Bool) throws {
        let pair = VirtualCascade(["a", "b"], network: LinkProfile(rate: .unlimited, delay: .milliseconds(250)))
        try pair[0].join("Ada", colour: .red)
        try pair[1].join("Ben", colour: .blue)
        pair.run(for: .milliseconds(500))
        try pair.link(1, 0)
        if isDead { pair.kill(1) }
        let began = pair.now
        try moderate(.end, at: 0, of: pair)
        #expect(pair.run(until: { pair.room(0) == nil }, limit: .seconds(4)))
        #expect(pair.now - began > .seconds(1), "the link took longer than a message does")
        #expect((pair.room(1) == nil) == !isDead)
    }

    @Test("the end of a room waits for a link that has yet to be made, and not for long", arguments: [true, false])
    func endWithoutLink(isMade: Bool) throws {
        let pair = VirtualCascade(["a", "b"])
        try pair[0].join("Ada", colour: .red)
        try pair[1].join("Ben", colour: .blue)
        pair.run(for: .milliseconds(500))
        pair[0].relay.setOtherRelays(["demo": ["b"]])
        try moderate(.end, at: 0, of: pair)
        pair.run(for: .seconds(1))
        #expect(pair.names(0) == ["Ada"])
        if isMade { try pair.link(1, 0) }
        #expect(pair.run(until: { pair.room(0) == nil }, limit: .seconds(3)) && (pair.room(1) == nil) == isMade)
    }

    @Test("a room that begins when one of its name has just ended goes on")
    func endAndBeginning() throws {
        let (pair, _, ben) = try makePair()
        try moderate(.end, at: 1, of: pair)
        let hasLeft = pair[1].act { relay, now in
            relay.leave(room: "demo", participant: ben.participantID, now: now)
        }
        #expect(hasLeft && pair.room(1) == nil)
        pair[1].remove(ben)
        try pair[1].join("Cy")
        pair.run(for: .seconds(2))
        #expect(pair.names(1) == ["Cy"])
    }

    @Test("a link takes no more than 32 orders that wait, and the newest layout of several")
    func manyOrders() {
        var orders = CascadeOrders()
        let layouts = (0..<3).map { _ in orders.add(.layout(ReadableLayout(.grid))) }
        #expect(layouts == [true, true, true] && orders.waiting.map(\.number) == [3])
        let others = (0..<32).map { _ in orders.add(.moderation(.lowerHands, by: actor)) }
        #expect(others == Array(repeating: true, count: 31) + [false])
        orders.delivered(Array(orders.waiting.prefix(2)))
        #expect(orders.waiting.count == 30)
        var other = CascadeOrders()
        let counts = (0..<2).map { _ in other.take(orders.waiting).count }
        #expect(counts == [30, 0])
    }

    @Test("while a link takes no more orders, its own relay's members are not banned, and ordered removals happen")
    func fullLink() throws {
        let three = VirtualCascade(["a", "b", "c"])
        try three[0].join("Ada", colour: .red)
        try three[1].join("Ben", colour: .green)
        let cy = try three[1].join("Cy", grants: MemberGrants(role: .participant, identity: "cy@example.org"))
        try three[2].join("Di", colour: .yellow)
        three.run(for: .milliseconds(500))
        for (maker, other) in [(1, 0), (2, 0), (2, 1)] { try three.link(maker, other) }
        for index in 0..<3 { try #require(three.run { three.names(index).count == 4 }) }
        three.kill(2)
        let full = try #require(three.room(1)?.links["c"])
        while full.orders.add(.moderation(.lowerHands, by: actor)) {}
        let ban = RoomCommand.Moderation.remove(participant: cy.participantID, keepOut: true)
        #expect(throws: RoomControlError.tooManyChanges(retryAfter: 1)) { try moderate(ban, at: 1, of: three) }
        #expect(three.room(1)?.door.isRestrictive == false)
        #expect(three.room(1)?.links["a"]?.orders.waiting.isEmpty == true)
        try moderate(ban, at: 0, of: three)
        #expect(three.run(until: { !three.names(0).contains("Cy") }, limit: .seconds(2)))
        #expect(three.room(1)?.links["c"] === full)
        #expect(three.run(until: { three.room(0)?.door.isRestrictive == true }, limit: .seconds(1)))
    }

    @Test("a participant of another relay is controlled there")
    func control() throws {
        let (pair, _, ben) = try VirtualCascade.linkedPair()
        #expect(pair.run { pair.names(0) == ["Ada", "Ben"] })
        #expect(throws: RoomControlError.atAnotherRelay(participant: ben.participantID, relay: "b")) {
            try pair[0].act { relay, now in
                try relay.perform(
                    .setMediaState(MediaState(microphone: false), participant: ben.participantID), room: "demo",
                    now: now)
            }
        }
        let hasLeft = pair[0].act { relay, now in
            relay.leave(room: "demo", participant: ben.participantID, now: now)
        }
        #expect(!hasLeft)
        // A layout may name them.
        try pair[0].act { relay, now in
            try relay.perform(
                .setLayout(RoomLayout(.pinned(participant: ben.participantID))), room: "demo", now: now)
        }
    }
}
