import MediaCore
import MediaFixtures
import OrderedCollections
import RoomAPI
import SecureTransport
import Testing

@testable import Conference

/// Members of a room on several relays who go from one relay to another, because theirs died or before it ends.
@Suite("Moving between the relays of a room")
struct CascadeMoveTests {
    private func lock(_ relay: VirtualCall, by name: String) throws {
        try relay.act { relay, now in
            try relay.perform(
                .moderate(.setEntry(locked: true, lobby: nil, pin: nil), by: RoomActor(name: name)),
                room: "demo", now: now)
        }
    }

    private func remove(_ client: TestClient, by name: String, at relay: VirtualCall) throws {
        try relay.act { relay, now in
            try relay.perform(
                .moderate(.remove(participant: client.participantID, keepOut: false), by: RoomActor(name: name)),
                room: "demo", now: now)
        }
    }

    private static func isLocked(_ error: any Error) -> Bool {
        if case JoinError.locked = error { true } else { false }
    }

    @Test("somebody whose relay died is seen at the next one before the link to the dead one ends")
    func comingBack() throws {
        let (three, ada, cy) = try VirtualCascade.three()
        three.kill(0)
        three.run(for: .milliseconds(1500))
        try three.move(ada)
        #expect(three.run(until: { three.relay(ofAdaAt: 2) == "b" }, limit: .milliseconds(300)))
        #expect(three.room(2)?.links["a"] != nil)
        three.run(for: .milliseconds(1200))
        #expect(three.room(2)?.links["a"] != nil)
        let seen = try #require(cy.picture)
        // Three tiles, of which the last one stands in the middle.
        #expect([(80, 45), (240, 45), (160, 135)].contains { seen.colour(x: $0.0, y: $0.1).resembles(.red) })
        #expect(three.run(until: { three.names(2) == ["Ada", "Ben", "Cy"] }, limit: .seconds(7)))
        #expect(three.names(1) == ["Ada", "Ben", "Cy"])
    }

    @Test("somebody who joins at another relay and then leaves the first is a member everywhere all the time")
    func moving() throws {
        let (three, ada, _) = try VirtualCascade.three()
        try three.move(ada)
        #expect(three.run(until: { three.relay(ofAdaAt: 2) == "b" }, limit: .milliseconds(300)))
        three.run(for: .seconds(1))
        for index in 0..<3 { #expect(three.names(index) == ["Ada", "Al", "Ben", "Cy"]) }
        _ = three[0].act { relay, now in relay.leave(room: "demo", participant: ada.participantID, now: now) }
        #expect(three.relay(ofAdaAt: 0) == "b")
        three.run(for: .seconds(2))
        for index in 0..<3 { #expect(three.names(index) == ["Ada", "Al", "Ben", "Cy"]) }
        #expect(three.relay(ofAdaAt: 0) == "b" && three.relay(ofAdaAt: 2) == "b")
    }

    @Test("somebody whose relay died comes back past a lock, with or without a link that still tells of them")
    func lock() throws {
        for isKnown in [true, false] {
            let (three, ada, _) = try VirtualCascade.three()
            try lock(three[1], by: "Ben")
            three.kill(0)
            if !isKnown { #expect(three.run { three.room(1)?.links["a"] == nil }) }
            #expect {
                try three[1].join("Di", adjustRequest: { $0.rejoiningAs = "di" })
            } throws: { Self.isLocked($0) }
            try three.move(ada)
        }
    }

    @Test("somebody whose relay died, and whom a moderator then removed, comes back past a lock at no relay")
    func removedAfterReturn() throws {
        let (three, ada, _) = try VirtualCascade.three()
        try lock(three[1], by: "Ben")
        three.kill(0)
        for index in 1...2 { try #require(three.run { three.room(index)?.links["a"] == nil }) }
        try three.move(ada)
        try #require(three.run { three.relay(ofAdaAt: 2) == "b" })
        try lock(three[2], by: "Cy")
        try remove(ada, by: "Cy", at: three[2])
        try #require(three.run { (1...2).allSatisfy { three.names($0) == ["Ben", "Cy"] } })
        three.run(for: .seconds(1))
        for index in 1...2 {
            #expect {
                try three[index].join(
                    "Ada", returningAs: ada.participantID, adjustRequest: { $0.rejoiningAs = ada.participantID })
            } throws: { Self.isLocked($0) }
        }
    }

    @Test("a ban of an address keeps out those who come newly, and nobody who moves from another relay of the room")
    func bannedAddress() throws {
        let pair = VirtualCascade(["a", "b"])
        let office = TransportAddress(ipv4: 0x0a00_0001, port: 9)
        let ada = try pair[0].join("Ada", colour: .red, adjustRequest: { $0.client = office })
        let cy = try pair[0].join("Cy", colour: .blue, adjustRequest: { $0.client = office })
        try pair[1].join("Ben", colour: .green)
        pair.run(for: .milliseconds(500))
        try pair.link(1, 0)
        try #require(pair.run { pair.names(1) == ["Ada", "Ben", "Cy"] })
        try pair[0].act { relay, now in
            try relay.perform(
                .moderate(.remove(participant: cy.participantID, keepOut: true), by: RoomActor(name: "Ada")),
                room: "demo", now: now)
        }
        try #require(pair.run { pair.room(1)?.door.isRestrictive == true && pair.names(1) == ["Ada", "Ben"] })
        for id in [nil, cy.participantID] {
            #expect {
                try pair[1].join(
                    "Cy", returningAs: id,
                    adjustRequest: { request in (request.client, request.rejoiningAs) = (office, id) })
            } throws: {
                if case JoinError.keptOut = $0 { true } else { false }
            }
        }
        try pair[1].join(
            "Ada", colour: .red, returningAs: ada.participantID,
            adjustRequest: { request in (request.client, request.rejoiningAs) = (office, ada.participantID) })
        #expect(pair.room(1)?.localParticipant(publicID: ada.participantID) != nil)
    }

    @Test(
        "whom a moderator removed comes back past no lock of a room that had another relay, unless let in anew",
        arguments: [true, false])
    func removedBefore(isLockedBefore: Bool) throws {
        let before = VirtualCall()
        let (ada, ben, cy) = (try before.join("Ada"), try before.join("Ben"), try before.join("Cy"))
        for removed in [ben, cy] { try remove(removed, by: "Ada", at: before) }
        try before.join("Cy", adjustRequest: { $0.rejoiningAs = cy.participantID })
        before.run(for: .seconds(1))
        if isLockedBefore { try lock(before, by: "Ada") }
        let conditions = try #require(before.relay.occupancy.rooms["demo"]?.conditions)
        #expect(conditions.removed == [ben.participantID])
        let began = try #require(conditions.roomBegan)

        let after = VirtualCall()
        func comeBack(_ id: String, keyTime: Double? = nil) throws {
            try after.join(
                "Back",
                adjustRequest: { request in
                    (request.inheritedConditions, request.rejoiningAs) = (conditions, id)
                    request.rejoinKeyTime = keyTime
                })
        }
        if isLockedBefore { #expect { try comeBack(ben.participantID) } throws: { Self.isLocked($0) } }
        try comeBack(ada.participantID)
        if !isLockedBefore { try lock(after, by: "Ada") }
        try comeBack(cy.participantID)
        #expect { try comeBack(ben.participantID) } throws: { Self.isLocked($0) }
        #expect { try comeBack("old", keyTime: began - 60) } throws: { Self.isLocked($0) }
        try comeBack("al", keyTime: began)
    }

    @Test("who has left comes back past no lock of a room that had another relay, unless let in anew since")
    func leftBefore() throws {
        let before = VirtualCall()
        let (ada, ben, cy) = (try before.join("Ada"), try before.join("Ben"), try before.join("Cy"))
        before.run(for: .seconds(1))
        for leaving in [ben, cy] {
            _ = before.act { relay, now in relay.leave(room: "demo", participant: leaving.participantID, now: now) }
        }
        // Without a lock nobody needs to know.
        #expect(before.relay.occupancy.rooms["demo"]?.conditions.left == [])
        try before.join("Cy", adjustRequest: { $0.rejoiningAs = cy.participantID })
        before.run(for: .seconds(1))
        try lock(before, by: "Ada")
        let conditions = try #require(before.relay.occupancy.rooms["demo"]?.conditions)
        #expect(conditions.left == [ben.participantID])

        let after = VirtualCall()
        for (client, isLetIn) in [(ben, false), (ada, true), (ben, false), (cy, true)] {
            let comeBack = {
                try after.join(
                    "Back",
                    adjustRequest: { request in
                        (request.inheritedConditions, request.rejoiningAs) = (conditions, client.participantID)
                    })
            }
            if isLetIn { _ = try comeBack() } else { #expect { try comeBack() } throws: { Self.isLocked($0) } }
        }
    }

    @Test(
        "whom a moderator removes during a move is at neither relay, and comes back to neither",
        arguments: [true, false])
    func removedMeanwhile(hasLeft: Bool) throws {
        let (three, ada, _) = try VirtualCascade.three()
        try three.move(ada)
        try lock(three[0], by: "Al")
        try lock(three[1], by: "Ben")
        try #require(three.run { three.relay(ofAdaAt: 2) == "b" })
        if hasLeft {
            _ = three[0].act { relay, now in relay.leave(room: "demo", participant: ada.participantID, now: now) }
            three.run(for: .milliseconds(300))
        }
        try remove(ada, by: "Cy", at: three[2])
        three.run(for: .seconds(1))
        for index in 0..<3 { #expect(three.names(index) == ["Al", "Ben", "Cy"]) }
        for index in 0..<2 {
            #expect {
                try three[index].join(
                    "Ada", returningAs: ada.participantID, adjustRequest: { $0.rejoiningAs = ada.participantID })
            } throws: { Self.isLocked($0) }
        }
    }

    @Test("somebody who moves keeps the tile and the layout, and layouts of others that name them stay")
    func keeping() throws {
        let (three, ada, cy) = try VirtualCascade.three()
        let own = ParticipantLayout(.speaker, hidden: [cy.participantID])
        try three[0].act { relay, now in
            try relay.perform(
                .setParticipantLayout(own, participant: ada.participantID), room: "demo", now: now)
        }
        let aboutAda = ParticipantLayout(.pinned(participant: ada.participantID))
        try three[2].act { relay, now in
            try relay.perform(
                .setParticipantLayout(aboutAda, participant: cy.participantID), room: "demo", now: now)
        }
        three.run(for: .seconds(1))
        let order = three.room(2)?.stageMembers.map(\.name)
        try three.move(ada)
        three.run(for: .seconds(1))
        _ = three[0].act { relay, now in relay.leave(room: "demo", participant: ada.participantID, now: now) }
        three.run(for: .seconds(2))
        #expect(three.room(1)?.localParticipant(publicID: ada.participantID)?.layout == own)
        #expect(three.room(2)?.localParticipant(publicID: cy.participantID)?.layout == aboutAda)
        #expect(three.room(2)?.stageMembers.map(\.name) == order)
    }

    @Test("somebody who moves stays muted and keeps the role; every relay of the room knows the moderator's key")
    func moderated() throws {
        let three = VirtualCascade(["a", "b", "c"])
        let ada = try three[0].join("Ada", colour: .red, isOpen: true)
        try three[1].join("Ben", colour: .green)
        three.run(for: .milliseconds(500))
        three[0].relay.setConductedRooms(["demo": 1])
        try three.link(1, 0)
        #expect(three.run { three.names(1) == ["Ada", "Ben"] })
        try three[0].act { relay, now in
            try relay.perform(
                .moderate(
                    .member(MemberModeration(microphone: .muted), participant: ada.participantID),
                    by: RoomActor(name: "Ada")), room: "demo", now: now)
        }
        three.run(for: .seconds(1))
        #expect(three[1].relay.access(ofRoom: "demo", participant: nil)?.moderatorKey == [1, 2, 3])
        try three.move(ada)
        let moved = try #require(three.room(1)?.localParticipant(publicID: ada.participantID))
        #expect(moved.moderation.isMuted && moved.grants == MemberGrants(role: .moderator))
    }

    /// Ada begins the room at the first relay, Ben is at the second one, and both know that she is muted.
    private func joinMuted(in cascade: VirtualCascade) throws -> TestClient {
        let ada = try cascade[0].join("Ada", colour: .red, isOpen: true)
        try cascade[1].join("Ben", colour: .green)
        cascade.run(for: .milliseconds(500))
        try cascade.link(1, 0)
        try #require(cascade.run { cascade.names(1) == ["Ada", "Ben"] })
        try cascade[0].act { relay, now in
            try relay.perform(
                .moderate(
                    .member(MemberModeration(microphone: .muted, camera: .off), participant: ada.participantID),
                    by: RoomActor(name: "Ada")), room: "demo", now: now)
        }
        cascade.run(for: .seconds(1))
        return ada
    }

    @Test("somebody whose relay died stays muted and keeps the role, also after the link to the dead one has ended")
    func comingBackLate() throws {
        let two = VirtualCascade(["a", "b"])
        let ada = try joinMuted(in: two)
        two.kill(0)
        try #require(two.run { two.room(1)?.links["a"] == nil })
        #expect(two.names(1) == ["Ben"])
        try two.move(ada)
        let back = try #require(two.room(1)?.localParticipant(publicID: ada.participantID))
        #expect(back.moderation == ModerationState(isMuted: true, isCameraOff: true))
        #expect(back.grants == MemberGrants(role: .moderator) && back.moves == 1)
    }

    @Test("what a lost relay knew of somebody is forgotten once they are back, at whatever relay")
    func secondReturn() throws {
        let three = VirtualCascade(["a", "b", "c"])
        let ada = try joinMuted(in: three)
        try three[2].join("Cy", colour: .blue)
        three.run(for: .milliseconds(500))
        for other in 0...1 { try three.link(2, other) }
        try #require(three.run { three.names(2) == ["Ada", "Ben", "Cy"] })
        three.kill(0)
        for index in 1...2 { try #require(three.run { three.room(index)?.links["a"] == nil }) }
        func isExpected(_ index: Int) -> Bool {
            three.room(index)?.door.expectedMember(ada.participantID, now: three.now) != nil
        }
        #expect(isExpected(1) && isExpected(2))
        try three.move(ada)
        // The answer to a join may be lost, and the client tries again.
        #expect(isExpected(1))
        try #require(three.run { three.relay(ofAdaAt: 2) == "b" })
        #expect(!isExpected(1) && !isExpected(2))
    }

    @Test("somebody whom a relay sends on to one that has not had the room stays muted there, and keeps the role")
    func sentOn() throws {
        let three = VirtualCascade(["a", "b", "c"])
        let ada = try joinMuted(in: three)
        var former = try #require(three[1].relay.memberState(ada.participantID, inRoom: "demo"))
        former.moves = 1
        try three[2].join(
            "Ada", colour: .red, returningAs: ada.participantID,
            adjustRequest: { request in (request.rejoiningAs, request.former) = (ada.participantID, former) })
        let moved = try #require(three.room(2)?.localParticipant(publicID: ada.participantID))
        #expect(moved.moderation == ModerationState(isMuted: true, isCameraOff: true))
        #expect(moved.grants == MemberGrants(role: .moderator) && moved.moves == 2)
    }
}
