import MediaCore
import MediaFixtures
import OrderedCollections
import RoomAPI
import Testing

@testable import Conference

/// Orders about somebody who goes from one relay to another meanwhile.
@Suite("Orders during a move")
struct CascadeOrderTests {
    private func mute(_ client: TestClient, by name: String, at relay: VirtualCall) throws {
        try relay.act { relay, now in
            try relay.perform(
                .moderate(
                    .member(MemberModeration(microphone: .muted), participant: client.participantID),
                    by: RoomActor(name: name)), room: "demo", now: now)
        }
    }

    @Test("an order to a relay that somebody has just left goes on to the relay where they are")
    func orderAfterMove() throws {
        let (three, ada, _) = try VirtualCascade.threeUnlinked()
        // The third relay hears of the move from the first, later than that one.
        for maker in 1...2 { try three.link(maker, 0) }
        try #require(three.run { three.names(0).count == 4 && three.relay(ofAdaAt: 2) == "a" })
        try three.move(ada)
        three.run(for: .milliseconds(300))
        leave(ada, in: three)
        try #require(three.relay(ofAdaAt: 0) == "b" && three.relay(ofAdaAt: 2) == "a")
        try mute(ada, by: "Cy", at: three[2])
        three.run(for: .seconds(1))
        #expect(three.room(1)?.localParticipant(publicID: ada.participantID)?.moderation.isMuted == true)
    }

    @Test("a moderator's order during a move holds at the next relay, too")
    func orderDuringMove() throws {
        let (three, ada, _) = try VirtualCascade.three()
        try three.move(ada)
        try #require(three.run { three.room(0)?.links["b"]?.elsewhere[ada.participantID] != nil })
        try mute(ada, by: "Al", at: three[0])
        three.run(for: .seconds(1))
        leave(ada, in: three)
        three.run(for: .seconds(1))
        #expect(three.room(1)?.localParticipant(publicID: ada.participantID)?.moderation.isMuted == true)
    }

    private func leave(_ client: TestClient, in cascade: VirtualCascade) {
        _ = cascade[0].act { relay, now in
            relay.leave(room: "demo", participant: client.participantID, now: now)
        }
    }

    @Test("an order about somebody who has left waits until the relay hears where they are", arguments: [true, false])
    func orderBeforeNews(isInTime: Bool) throws {
        let (three, ada, _) = try VirtualCascade.threeUnlinked()
        try three.link(2, 0)
        try #require(three.run { three.relay(ofAdaAt: 2) == "a" })
        try three.move(ada)
        three.run(for: .milliseconds(300))
        leave(ada, in: three)
        try mute(ada, by: "Cy", at: three[2])
        three.run(for: isInTime ? .milliseconds(200) : .seconds(3))
        try #require(three.room(0)?.participant(publicID: ada.participantID) == nil)
        try three.link(1, 0)
        try #require(three.run { three.relay(ofAdaAt: 0) == "b" })
        three.run(for: .seconds(1))
        let moved = try #require(three.room(1)?.localParticipant(publicID: ada.participantID))
        #expect(moved.moderation.isMuted == isInTime)
    }

    @Test("a spotlight that waits for somebody who has left yields to what a moderator has chosen since")
    func spotlightBeforeNews() throws {
        let al = RoomActor(name: "Al")
        let choices: [(RoomCommand?, isKept: Bool)] = [
            (nil, true), (.moderate(.spotlight(participant: nil), by: al), false),
            (.setLayout(RoomLayout(.grid)), false),
        ]
        for (choice, isKept) in choices {
            let (three, ada, _) = try VirtualCascade.threeUnlinked()
            three[0].relay.setConductedRooms(["demo": 1])
            try three.link(2, 0)
            try #require(three.run { three.relay(ofAdaAt: 2) == "a" && three.room(2)?.conductor != nil })
            try three.move(ada)
            three.run(for: .milliseconds(300))
            leave(ada, in: three)
            try three[2].act { relay, now in
                try relay.perform(
                    .moderate(.spotlight(participant: ada.participantID), by: RoomActor(name: "Cy")), room: "demo",
                    now: now)
            }
            three.run(for: .milliseconds(200))
            if let choice {
                try three[0].act { relay, now in try relay.perform(choice, room: "demo", now: now) }
            }
            try three.link(1, 0)
            try #require(three.run { three.relay(ofAdaAt: 0) == "b" })
            #expect(three.room(0)?.layout.mode == (isKept ? .pinned(participant: ada.participantID) : .grid))
        }
    }

    @Test("of two spotlights that wait the later one holds, whoever is known first")
    func spotlightsBeforeNews() throws {
        var held = HeldOrders()
        let actor = RoomActor(name: "Cy")
        func spotlight(_ id: String) -> CascadeState.Order.Change {
            .moderation(.spotlight(participant: id), by: actor)
        }
        for id in ["ben", "di"] { held.hold(spotlight(id), about: id, in: "demo", now: .zero) }
        #expect(held.take(about: "ben", in: "demo", now: .zero).isEmpty)
        #expect(held.take(about: "di", in: "demo", now: .zero) == [spotlight("di")])
    }

    @Test("orders that wait in one room do not push out those of another, and have a bound in all")
    func boundOfHeldOrders() {
        var held = HeldOrders()
        func mute(_ id: String) -> CascadeState.Order.Change {
            .moderation(.member(MemberModeration(microphone: .muted), participant: id), by: RoomActor(name: "Cy"))
        }
        held.hold(mute("ben"), about: "ben", in: "other", now: .zero)
        for number in 0..<100 { held.hold(mute("p\(number)"), about: "p\(number)", in: "demo", now: .zero) }
        #expect(held.take(about: "ben", in: "other", now: .zero) == [mute("ben")])
        #expect(held.take(about: "p83", in: "demo", now: .zero).isEmpty)
        #expect(held.take(about: "p84", in: "demo", now: .zero) == [mute("p84")])
        for number in 0..<100 { held.hold(mute("ben"), about: "ben", in: "room\(number)", now: .zero) }
        #expect(held.take(about: "ben", in: "room35", now: .zero).isEmpty)
        #expect(held.take(about: "ben", in: "room36", now: .zero) == [mute("ben")])
    }

    @Test("an order that the relay of before carries out before the next one has told of somebody holds there, too")
    func orderBeforeSeat() throws {
        let (three, ada, _) = try VirtualCascade.three()
        try three.move(ada)
        try mute(ada, by: "Al", at: three[0])
        let moved = try #require(three.room(1)?.localParticipant(publicID: ada.participantID))
        #expect(!moved.moderation.isMuted && !moved.isSeated)
        three.run(for: .seconds(1))
        leave(ada, in: three)
        three.run(for: .seconds(1))
        #expect(moved.moderation.isMuted && three.relay(ofAdaAt: 0) == "b")
    }
}
