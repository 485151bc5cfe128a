import Testing

@testable import RelayServer

@Suite("Names of rooms and participants")
struct NamesTests {
    @Test(
        "rooms are named by letters, digits, '-', '_' and '.'",
        arguments: ["demo", "A", "a.b-c_9", String(repeating: "x", count: 64)])
    func goodRooms(name: String) throws {
        #expect(try RoomName(name).rawValue == name)
    }

    @Test(
        "other names of rooms are refused",
        arguments: ["", ".", "..", "a b", "a/b", "é", "a\n", "%41", String(repeating: "x", count: 65)])
    func badRooms(name: String) {
        #expect(throws: Problem.self) { try RoomName(name) }
    }

    @Test("a member can have any printable name", arguments: ["Ada", "Ben O'Brien", "李雷", "Ἀρχιμήδης", "👩🏽‍🔬", "<b>&\""])
    func goodNames(name: String) throws {
        #expect(try ParticipantName(name).rawValue == name)
    }

    @Test("white space around a name is cut off")
    func trimming() throws {
        #expect(try ParticipantName(" \t Ada Lovelace\n ").rawValue == "Ada Lovelace")
    }

    @Test("what turns the direction of text is left out of a name, and what joins emoji is not")
    func direction() throws {
        #expect(try ParticipantName("\u{202E}Ada\u{202C} \u{2066}B\u{2069}\u{200F}").rawValue == "Ada B")
        #expect(try ParticipantName("👩🏽\u{200D}🔬").rawValue.unicodeScalars.contains("\u{200D}"))
    }

    @Test(
        "names that cannot be shown are refused",
        arguments: [
            "", "   ", "\u{200B}", "\u{2060}\u{3164}", "\u{202E}", "\u{301}",
            "a\u{0}b", "a\nb", "a\u{2028}b", String(repeating: "x", count: 65),
            String(repeating: "e\u{301}\u{301}\u{301}\u{301}\u{301}", count: 60),
        ])
    func badNames(name: String) {
        #expect(throws: Problem.self) { try ParticipantName(name) }
    }

    @Test("a name with nothing to see in it is said to be empty", arguments: ["", "   ", "\u{200B}"])
    func emptyNames(name: String) {
        let problem = #expect(throws: Problem.self) { try ParticipantName(name) }
        #expect(problem?.detail == "the name is empty: use 1 to 64 visible characters")
    }
}
