import Compositing
import Foundation
import RoomAPI
import Testing

@testable import ConferenceClient

@Suite("Changes of layouts by names") struct LayoutChangeTests {
    private func room() throws -> RoomReport {
        let json = """
            {"id":"demo","layout":{"layout":"pinned","participant":"a1","hide":["b2"]},"participants":[
            {"id":"a1","name":"Ada"},
            {"id":"b2","name":"Ben","layout":{"layout":"solo","participant":"a1","fit":"cover"}},
            {"id":"c3","name":"ben"},{"id":"d4","name":"Cy"},{"id":"e5","name":"Cy"}]}
            """
        return try JSONDecoder().decode(RoomReport.self, from: Data(json.utf8))
    }

    @Test("the choices as JSON are those that the relay told")
    func json() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        var room = try room()
        room.participants.removeLast(3)
        #expect(
            String(decoding: try encoder.encode(room), as: UTF8.self)
                == #"{"layout":{"hide":["b2"],"layout":"pinned","participant":"a1"},"participants":["#
                + #"{"id":"a1","name":"Ada"},"#
                + #"{"id":"b2","layout":{"fit":"cover","layout":"solo","participant":"a1"},"name":"Ben"}]}"#)
    }

    @Test("settings that are not named stay")
    func merging() throws {
        let room = try room()
        var change = LayoutChange()
        change.fit = .cover
        change.hidden = ["a1", "Ben"]
        #expect(
            try change.applied(to: room.layout, in: room)
                == RoomLayout(.pinned(participant: "a1"), fit: .cover, hidden: ["b2", "a1"]))
        change = LayoutChange()
        change.shown = ["Ben"]
        change.mode = .layout(.grid)
        #expect(try change.applied(to: room.layout, in: room) == .grid)
        change = LayoutChange()
        change.selfView = .always
        #expect(
            try change.applied(to: room.participants[1].layout, in: room)
                == ParticipantLayout(.solo(participant: "a1"), fit: .cover, selfView: .always))
        change.mode = .room
        #expect(
            try change.applied(to: room.participants[1].layout, in: room)
                == ParticipantLayout(fit: .cover, selfView: .always))
        change.isReset = true
        #expect(
            try change.applied(to: room.participants[1].layout, in: room) == ParticipantLayout(selfView: .always))
    }

    @Test("people at other relays of the cluster are found and named, too")
    func elsewhere() throws {
        let json = """
            {"id":"demo","layout":{"layout":"grid","hide":["b2"]},"participants":[{"id":"a1","name":"Ada"}],
            "elsewhere":[{"id":"b2","name":"Ben","role":"sendAndReceive","relay":"b"}]}
            """
        let room = try JSONDecoder().decode(RoomReport.self, from: Data(json.utf8))
        #expect(try room.id(of: "Ben") == "b2")
        #expect(room.summary == ["room: grid, without Ben", "Ada (a1): as the room"])
    }

    @Test("people are found by id, by name, and by a unique name in other case")
    func names() throws {
        let room = try room()
        #expect(try room.id(of: "d4") == "d4")
        #expect(try room.id(of: "Ben") == "b2")
        #expect(try room.id(of: "ben") == "c3")
        #expect(try room.id(of: "ADA") == "a1")
        for name in ["Eve", "Cy", "BEN", ""] {
            #expect(throws: ClientError.self) { try room.id(of: name) }
        }
    }

    @Test("nobody is let in whose name another person in the lobby has as well")
    func waitingNames() throws {
        let waiting = [
            WaitingPerson(id: "w-1", name: "Ben"), WaitingPerson(id: "w-2", name: "Ben"),
            WaitingPerson(id: "w-3", name: "Cy"),
        ]
        #expect(try waiting.id(of: "w-2", "in the lobby") == "w-2")
        #expect(try waiting.id(of: "cy", "in the lobby") == "w-3")
        let several = ClientError.usage(
            reason: "2 people in the lobby are called 'Ben'; give the id of one: w-1, w-2")
        #expect(throws: several) { try waiting.id(of: "Ben", "in the lobby") }
        let nobody = ClientError.usage(reason: "nobody in the lobby is called 'Eve'")
        #expect(throws: nobody) { try [WaitingPerson]().id(of: "Eve", "in the lobby") }
    }

    @Test("the choices are described in words")
    func summary() throws {
        #expect(
            try room().summary == [
                "room: pinned Ada, without Ben", "Ada (a1): as the room", "Ben (b2): solo Ada, fit cover",
                "ben (c3): as the room", "Cy (d4): as the room", "Cy (e5): as the room",
            ])
    }
}
