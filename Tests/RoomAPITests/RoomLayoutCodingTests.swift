import Compositing
import Foundation
import RoomAPI
import Testing

@Suite("Values of the HTTP interface")
struct RoomLayoutCodingTests {
    private func text(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    private func value<Value: Decodable>(_ text: String) throws -> Value {
        try JSONDecoder().decode(Value.self, from: Data(text.utf8))
    }

    @Test(
        "a room's layout reads back from its JSON",
        arguments: [
            (RoomLayout.speaker, #"{"layout":"speaker"}"#),
            (.pinned(participant: "k3v9"), #"{"layout":"pinned","participant":"k3v9"}"#),
            (RoomLayout(.grid, fit: .cover, hidden: ["a", "b"]), #"{"fit":"cover","hide":["a","b"],"layout":"grid"}"#),
        ])
    func layouts(layout: RoomLayout, json: String) throws {
        #expect(try text(layout) == json)
        #expect(try value(json) == layout)
    }

    @Test("a presentation is the speaker's layout under another name")
    func presentation() {
        #expect(LayoutMode.presentation.layout(images: ImageLibrary()) { _ in nil } == .speaker)
    }

    @Test("a participant's layout leaves out values that equal the room's")
    func participantLayouts() throws {
        let layout = ParticipantLayout(selfView: .always)
        #expect(try text(layout) == #"{"selfView":"always"}"#)
        #expect(try value("{}") == ParticipantLayout())
    }

    @Test("a layout that there is not is refused with those that there are")
    func unknown() {
        #expect {
            let _: RoomLayout = try value(#"{"layout":"circle"}"#)
        } throws: { error in
            "\(error)".contains("circle") && "\(error)".contains("side-by-side")
        }
    }

    @Test(
        "a word that a field does not take is refused with the words that it takes",
        arguments: [
            (#"{"microphone":"loud"}"#, "\"microphone\" is \"loud\"; use muted or ask-to-unmute or allowed"),
            (#"{"camera":"on"}"#, "\"camera\" is \"on\"; use off or allowed"),
            (#"{"role":"king"}"#, "use moderator or presenter or participant or viewer or recorder"),
        ])
    func choices(json: String, reason: String) {
        #expect {
            let _: MemberModeration = try value(json)
        } throws: { error in
            guard case .dataCorrupted(let context) = error as? DecodingError else { return false }
            return context.debugDescription.contains(reason) && context.codingPath.count == 1
        }
    }

    @Test("what a moderation leaves out or has as null stays as it is")
    func moderations() throws {
        let change: MemberModeration = try value(#"{"microphone":"ask-to-unmute","camera":null}"#)
        #expect(change == MemberModeration(microphone: .askedToUnmute))
        #expect(try text(change) == #"{"microphone":"ask-to-unmute"}"#)
    }

    @Test("a composite of too many pixels is refused with the bound, though both sides are within theirs")
    func largestComposite() throws {
        #expect(CompositeSettings.size("3840x2160") != nil)
        #expect {
            let _: CompositeSettings = try value(#"{"size":"3840x3840"}"#)
        } throws: { error in
            "\(error)".contains("no more pixels than 3840x2160")
        }
    }

    @Test("a refusal is shown by its mistakes if it has any, and by its detail if not")
    func problems() throws {
        let plain: ProblemDetails = try value(#"{"title":"Not Found","status":404,"detail":"there is no room"}"#)
        #expect(plain.reason == "there is no room")
        let detailed: ProblemDetails = try value(
            #"{"detail":"wrong","errors":[{"path":"slots[1]","reason":"too wide"},{"path":"","reason":"no title"}]}"#)
        #expect(detailed.reason == "slots[1]: too wide; no title")
        #expect(try value("{}") == ProblemDetails(title: nil, status: nil, detail: nil, errors: nil))
    }
}
