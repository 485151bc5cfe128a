import Compositing
import Foundation
import MediaCore
import MediaFixtures
import OrderedCollections
import RoomAPI
import Testing

@testable import Conference

/// Messages of a relay whose version is later than that of the relay that reads them.
@Suite("Links between relays of two versions")
struct CascadeVersionTests {
    private let actor = RoomActor(name: "Mod")

    /// The message as a later version might send it.
    private func later(
        _ state: CascadeState, _ change: (inout [String: Any]) throws -> Void
    ) throws -> CascadeState {
        let plain = try JSONSerialization.jsonObject(with: JSONEncoder().encode(state))
        var message = try #require(plain as? [String: Any])
        try change(&message)
        return try JSONDecoder().decode(CascadeState.self, from: JSONSerialization.data(withJSONObject: message))
    }

    private func member(_ id: String) -> CascadeState.Member {
        CascadeState.Member(
            id: id, name: id, role: .sendAndReceive, accessRole: .presenter, sendsAudio: true, sendsVideo: true,
            sharesScreen: false, microphone: true, camera: true, hand: false, muted: true, cameraOff: false,
            layout: ReadableLayout(ParticipantLayout(.speaker, fit: .cover, hidden: ["al"], selfView: .always)))
    }

    private var stage: CascadeState.Stage {
        CascadeState.Stage(
            epoch: 9, layout: ReadableLayout(.speaker), overlays: OverlayList(), order: ["ada"], speakers: ["ada"],
            entry: RoomEntryState(locked: true), waiting: 0)
    }

    @Test("a message loses only what this version cannot read")
    func unknownWords() throws {
        var state = CascadeState()
        state.members = [member("ada"), member("al")]
        state.stage = stage
        let known = CascadeSource(participant: "ada", content: .camera)
        state.streams = [.init(source: known, line: 2, ssrc: 1, retransmissions: 2)]
        state.wants = [.init(source: known, width: 320, height: 180)]
        state.orders = [.init(number: 4, change: .moderation(.lowerHands, by: actor))]
        state.acts = [.init(number: 7, event: ModerationEvent(.spotlight, by: actor))]
        #expect(try later(state) { _ in } == state)

        let unknown = ["participant": "ada", "content": "hologram"]
        let wall: [String: Any] = ["layout": "wall", "rows": 3]
        let actor = ["name": "Mod"]
        let read = try later(state) { message in
            func add(_ items: [[String: Any]], to key: String) {
                message[key] = items + (message[key] as? [[String: Any]] ?? [])
            }
            var members = try #require(message["members"] as? [[String: Any]])
            let own = wall.merging(["hide": ["al"], "selfView": "always", "fit": "bend"]) { $1 }
            members[0].merge(["role": "listen", "accessRole": "host", "layout": own]) { $1 }
            message["members"] = members
            var stage = try #require(message["stage"] as? [String: Any])
            let layout = wall.merging(["hide": ["al"], "fit": "bend"]) { $1 }
            stage.merge(["layout": layout, "overlays": [["hologram": "ada"]]]) { $1 }
            message["stage"] = stage
            add([["source": unknown, "line": 4, "ssrc": 3]], to: "streams")
            add([["source": unknown, "width": 320, "height": 180]], to: "wants")
            add(
                [
                    ["number": 1, "change": ["chapter": ["_0": "Questions"]]],
                    ["number": 2, "change": ["layout": ["_0": wall.merging(["hide": ["al"]]) { $1 }]]],
                    ["number": 3, "change": ["moderation": ["_0": ["applaud": [String: Any]()], "by": actor]]],
                ], to: "orders")
            add([["number": 6, "event": ["action": "applauded", "by": actor]]], to: "acts")
        }
        var expected = state
        (expected.members[0].role, expected.members[0].accessRole) = (nil, nil)
        expected.members[0].layout = ReadableLayout(ParticipantLayout(hidden: ["al"], selfView: .always))
        let hiding = ReadableLayout(ParticipantLayout(hidden: ["al"]))
        expected.orders.insert(.init(number: 2, change: .layout(hiding)), at: 0)
        expected.stage?.layout?.mode = nil
        expected.stage?.layout?.hidden = ["al"]
        expected.stage?.overlays = nil
        #expect(read == expected)
        // A field that is not there is not written as null.
        let again = try later(expected) { message in
            let stage = message["stage"] as? [String: Any]
            #expect(stage?["epoch"] != nil && stage?["overlays"] == nil)
        }
        #expect(again == read)
    }

    @Test("a version may leave out the acts of moderators, as the first ones did")
    func withoutActs() throws {
        #expect(try later(CascadeState()) { $0["acts"] = nil } == CascadeState())
    }

    @Test("a relay keeps its room's layout for one that it does not know, hides who is hidden, and follows all else")
    func room() throws {
        let (pair, _, ben) = try VirtualCascade.linkedPair()
        try #require(pair.run { (0...1).allSatisfy { pair.names($0) == ["Ada", "Ben"] } })
        let link = try #require(pair.room(0)?.links["b"])
        var state = CascadeState()
        state.sequence = 1_000_000
        state.stage = stage
        state.members = [member(ben.participantID)]
        state.streams = Array(link.incoming.values)
        state.orders = [.init(number: 100, change: .ban(identity: "cy@example.org", host: nil))]
        let message = try later(state) { message in
            var members = try #require(message["members"] as? [[String: Any]])
            members[0]["accessRole"] = "host"
            message["members"] = members
            var stage = try #require(message["stage"] as? [String: Any])
            stage["layout"] = ["layout": "wall", "hide": [ben.participantID]]
            message["stage"] = stage
            let orders = try #require(message["orders"] as? [[String: Any]])
            message["orders"] = [["number": 99, "change": ["chapter": [String: Any]()]]] + orders
        }
        try pair[0].relay.receive(message, room: "demo", from: "b", link: link.name, now: pair.now)
        let room = try #require(pair.room(0))
        #expect(room.layout == RoomLayout(.grid, hidden: [ben.participantID]))
        #expect(room.door.conditions.isLocked)
        #expect(room.door.isKeptOut(MemberGrants(role: .participant, identity: "cy@example.org"), nil))
        let remote = try #require(room.participant(publicID: ben.participantID))
        #expect(remote.moderation.isMuted && remote.grants.role == .presenter)
        #expect(pair[0].relay.cascadeCounters.refused == 0)
        // Nor can it show a layout about somebody of whom it does not know yet.
        state.sequence += 1
        state.stage?.layout = ReadableLayout(.pinned(participant: "nobody"))
        try pair[0].relay.receive(state, room: "demo", from: "b", link: link.name, now: pair.now)
        #expect(room.layout == .grid)
    }

    @Test("of a layout that another relay orders or tells of, a relay takes what is possible")
    func possibleLayouts() throws {
        let (pair, _, ben) = try VirtualCascade.linkedPair()
        try #require(pair.run { pair.names(0) == ["Ada", "Ben"] })
        let link = try #require(pair.room(0)?.links["b"])
        var state = CascadeState()
        state.sequence = 1_000_000
        state.members = [member(ben.participantID)]
        let order = RoomLayout(.pinned(participant: "nobody"), fit: .cover, hidden: ["nobody", ben.participantID])
        state.orders = [.init(number: 100, change: .layout(ReadableLayout(order)))]
        try pair[0].relay.receive(state, room: "demo", from: "b", link: link.name, now: pair.now)
        #expect(pair.room(0)?.layout == RoomLayout(.grid, fit: .cover, hidden: [ben.participantID]))
        // Of those whom the layout of the member hides nobody is in the room.
        let back = try pair[0].join(
            "Ben", returningAs: ben.participantID, adjustRequest: { $0.rejoiningAs = ben.participantID })
        let own = pair.room(0)?.localParticipant(publicID: back.participantID)?.layout
        #expect(own == ParticipantLayout(.speaker, fit: .cover, selfView: .always))
    }
}
