import Foundation
import MediaCore
import Testing

@testable import Compositing

@Suite("Templates as JSON")
struct LayoutTemplateTests {
    private static let mistaken: [(json: String, path: String, reason: String)] = [
        ("[]", "", "this is a list; give an object"),
        ("{}", "slots", "this is missing; give a list of slots, or \"arrangements\" that have them"),
        (#"{"slots":[]}"#, "slots", "the list is empty; give at least one slot"),
        (#"{"slots":{}}"#, "slots", "this is an object; give a list"),
        (#"{"arrangements":[]}"#, "arrangements", "the list is empty; give at least one"),
        (#"{"arrangements":[{}]}"#, "arrangements[0].slots", "this is missing; give a list of slots"),
        (
            #"{"slots":[{"show":["next"]}],"arrangements":[]}"#, "slots",
            "there are \"arrangements\" as well, which have slots; give one of the two"
        ),
        (#"{"slot":1,"slots":[{"show":["next"]}]}"#, "slot", "there is no such key; use name, background, slots"),
        (#"{"slots":[{"show":["next"],"w":1}]}"#, "slots[0].w", "there is no such key; use name, x, y, width"),
        (#"{"slots":[{"show":["next"],"width":"1"}]}"#, "slots[0].width", "this is a string; give a number from 0.01"),
        (#"{"slots":[{"show":["next"],"width":0}]}"#, "slots[0].width", "0 is not possible; give a number from 0.01"),
        (
            #"{"slots":[{"show":["next"],"x":-0.5}]}"#, "slots[0].x",
            "-0.5 is not possible; give a number from 0 to 0.99"
        ),
        (#"{"slots":[{"show":["next"],"x":true}]}"#, "slots[0].x", "this is true or false; give a number"),
        (#"{"slots":[{"show":["next"],"x":null}]}"#, "slots[0].x", "this is null; give a number"),
        (#"{"slots":[{"show":["next"],"x":1e999}]}"#, "slots[0].x", "this is a number that is too large"),
        (
            #"{"slots":[{"show":["next"],"x":0.5,"width":0.6}]}"#, "slots[0].width",
            "the slot goes beyond the canvas; x and width may be 1 together at most"
        ),
        (#"{"slots":[{"show":["next"],"y":0.5,"height":0.6}]}"#, "slots[0].height", "the slot goes beyond the canvas"),
        (#"{"slots":[{}]}"#, "slots[0].show", "this is missing; give a list of screen, speaker"),
        (#"{"slots":[{"show":[]}]}"#, "slots[0].show", "the list is empty; give some of screen, speaker"),
        (#"{"slots":[{"show":["nobody"]}]}"#, "slots[0].show[0]", "\"nobody\" is not possible; give screen, speaker"),
        (#"{"slots":[{"show":["participant: "]}]}"#, "slots[0].show[0]", "\"participant:\" is not possible"),
        (#"{"slots":[{"show":[7]}]}"#, "slots[0].show[0]", "this is a number; give screen, speaker"),
        (#"{"slots":[{"show":["next"],"z":1.5}]}"#, "slots[0].z", "1.5 is not possible; give a whole number from -100"),
        (#"{"slots":[{"show":["next"],"label":1}]}"#, "slots[0].label", "this is a number; give true or false"),
        (
            #"{"slots":[{"show":["next"],"fit":"fill"}]}"#, "slots[0].fit",
            "\"fill\" is not possible; give \"contain\", \"cover\""
        ),
        (#"{"slots":[{"show":["next"],"most":4}]}"#, "slots[0].most", "a slot of one tile has no use for it"),
        (
            #"{"slots":[{"show":["next"],"tiles":"grid","most":50}]}"#, "slots[0].most",
            "50 is not possible; give a whole"
        ),
        (#"{"slots":[{"show":["next"],"border":{"width":1}}]}"#, "slots[0].border.width", "1 is not possible"),
        (
            #"{"slots":[{"show":["next"],"border":{"colour":"red"}}]}"#, "slots[0].border.colour",
            "\"red\" is not possible"
        ),
        (#"{"slots":[{"show":["next"],"focus":[0,1]}]}"#, "slots[0].focus", "this is a list; give an object"),
        (#"{"slots":[{"show":["next"],"whenEmpty":"hide"}]}"#, "slots[0].whenEmpty", "\"hide\" is not possible"),
        (
            #"{"slots":[{"show":["next"],"whenEmpty":{"enlarge":"x"}}]}"#, "slots[0].whenEmpty.enlarge",
            "there is no slot of this name; use one of slot 1"
        ),
        (
            #"{"slots":[{"name":"a","show":["next"],"whenEmpty":{"enlarge":"a"}}]}"#, "slots[0].whenEmpty.enlarge",
            "this is the slot itself; name another"
        ),
        (
            #"{"slots":[{"name":"a","show":["next"]},{"name":"a","show":["next"]}]}"#, "slots[1].name",
            "slots[0] has the same name; give each one of its own"
        ),
        (
            #"{"arrangements":[{"participants":"3-1","slots":[{"show":["next"]}]}]}"#, "arrangements[0].participants",
            "\"3-1\" is not possible; give a number"
        ),
        (
            #"{"background":"202830","slots":[{"show":["next"]}]}"#, "background",
            "\"202830\" is not possible; give a colour"
        ),
        (#"{"background":{},"slots":[{"show":["next"]}]}"#, "background", "this names no image"),
        (
            #"{"slots":[{"show":["next"]}],"overlays":[{}]}"#, "overlays[0]",
            "give one of \"text\", \"image\" and \"clock\""
        ),
        (#"{"slots":[{"show":["next"]}],"overlays":[{"text":"a","image":"b"}]}"#, "overlays[0]", "give one of"),
        (
            #"{"slots":[{"show":["next"]}],"overlays":[{"clock":"CET"}]}"#, "overlays[0].clock",
            "\"CET\" is not possible; give \"UTC\""
        ),
        (
            #"{"slots":[{"show":["next"]}],"overlays":[{"text":"a","anchor":"left"}]}"#, "overlays[0].anchor",
            "\"left\" is not possible; give \"top-left\""
        ),
    ]

    @Test("every key reaches the template")
    func everyKey() throws {
        let template = try decodeTemplate(fullTemplate)
        #expect(template.name == "everything")
        #expect(template.background == .image("stage"))
        #expect(template.arrangements.count == 2)
        #expect(template.arrangements[0].participants == LayoutTemplate.CountRange(least: 0, most: 1))
        #expect(template.arrangements[0].slots == [LayoutTemplate.Slot(name: "slot 1", show: [.next])])
        let second = template.arrangements[1]
        #expect(second.participants == LayoutTemplate.CountRange(least: 2, most: nil))
        #expect(second.screens == LayoutTemplate.CountRange(least: 0, most: 3))
        #expect(
            second.slots[0]
                == LayoutTemplate.Slot(
                    name: "main", area: .init(x: 0, y: 0.1, width: 0.75, height: 0.8), show: [.screen, .speaker],
                    fit: .contain, cornerRadius: 0.05,
                    border: .init(width: 0.01, colour: .init(red: 255, green: 128, blue: 0)), opacity: 0.9, zOrder: 2,
                    isLabelled: false))
        #expect(
            second.slots[1]
                == LayoutTemplate.Slot(
                    name: "ada", area: .init(x: 0.75, y: 0, width: 0.25, height: 0.25),
                    show: [.participant(named: "Ada"), .screenOf(named: "Ada")], fit: .cover,
                    focus: FocusPoint(x: 0.5, y: 0.25), whenEmpty: .enlarge("main")))
        #expect(
            second.slots[2]
                == LayoutTemplate.Slot(
                    name: "rest", area: .init(x: 0.75, y: 0.25, width: 0.25, height: 0.75),
                    show: [.previousSpeaker, .recent, .next], tiling: .grid, mostTiles: 9, gap: 0.02))
        #expect(
            template.overlays == [
                .init(.image("logo"), anchor: .topLeft, height: 0.1, opacity: 0.5),
                .init(.text("Lecture 4"), anchor: .bottom, height: 0.06),
                .init(.clock(utcOffset: -210), anchor: .topRight, height: 0.06),
            ])
    }

    @Test(
        "an encoded template is decoded to the same template",
        arguments: [
            fullTemplate, #"{"slots":[{"show":["next"]}]}"#, ##"{"background":"#000000","slots":[{"show":["next"]}]}"##,
            #"{"arrangements":[{"screens":"1","slots":[{"show":["recent"],"tiles":"row"}]}],"#
                + #""overlays":[{"clock":"UTC"}]}"#,
        ])
    func roundTrip(json: String) throws {
        let template = try decodeTemplate(json)
        let encoded = try JSONEncoder().encode(template)
        #expect(try decodeTemplate(String(decoding: encoded, as: UTF8.self)) == template)
    }

    @Test(
        "each mistake is told with its place and what is allowed", arguments: mistaken)
    func mistakes(json: String, path: String, reason: String) throws {
        let issue = try #require(try templateIssues(json)?.first)
        #expect(issue.path == path)
        #expect(issue.reason.hasPrefix(reason), "\(issue.reason)")
    }

    @Test("all mistakes are reported at once, up to a bound")
    func many() throws {
        let issues = try templateIssues(
            #"{"background":7,"slots":[{"show":["x"],"width":2},{"colour":1,"show":["next"]}],"#
                + #""overlays":[{"text":""}]}"#)
        #expect(
            issues?.map(\.path) == [
                "background", "slots[0].width", "slots[0].show[0]", "slots[1].colour", "overlays[0].text",
            ])
        let wrong = (0..<64).map { _ in #"{"show":["x"]}"# }.joined(separator: ",")
        #expect(try templateIssues(#"{"slots":[\#(wrong)]}"#)?.count == LayoutTemplateError.maximumIssueCount)
    }

    @Test("of more mistakes than are told no text is made")
    func untoldMistakes() {
        var reader = TemplateReader()
        var texts = 0
        func reason() -> String {
            texts += 1
            return "wrong"
        }
        for _ in 0..<1000 { reader.record("slots", reason()) }
        for _ in 0..<1000 { _ = reader.text(.null, at: "name", allowed: reason()) { $0 } }
        #expect(texts == LayoutTemplateError.maximumIssueCount)
        #expect(reader.issues.count == LayoutTemplateError.maximumIssueCount)
    }

    @Test("there is a bound to slots, arrangements and overlays")
    func bounds() throws {
        func slots(_ count: Int) -> String {
            (0..<count).map { _ in #"{"show":["next"]}"# }.joined(separator: ",")
        }
        #expect(try templateIssues(#"{"slots":[\#(slots(64))]}"#) == nil)
        #expect(
            try templateIssues(#"{"slots":[\#(slots(65))]}"#)
                == [LayoutTemplateError.Issue(path: "slots", reason: "these are 65; give at most 64")])
        let arrangement = #"{"slots":[{"show":["next"]}]}"#
        let arrangements = [String](repeating: arrangement, count: 17).joined(separator: ",")
        #expect(try templateIssues(#"{"arrangements":[\#(arrangements)]}"#)?.first?.path == "arrangements")
        let overlays = [String](repeating: #"{"clock":"UTC"}"#, count: 17).joined(separator: ",")
        #expect(
            try templateIssues(#"{"slots":[{"show":["next"]}],"overlays":[\#(overlays)]}"#)?.first?.path == "overlays")
    }

    @Test("the place of a mistake begins with the template's own place in the document")
    func nested() throws {
        struct Whole: Decodable { var parts: [LayoutTemplate] }
        #expect {
            try JSONDecoder().decode(Whole.self, from: Data(#"{"parts":[{"slots":[{"show":["x"]}]}]}"#.utf8))
        } throws: { error in
            (error as? LayoutTemplateError)?.path == "parts[0].slots[0].show[0]"
        }
    }

    @Test("a missing image is reported, with the images that exist")
    func images() throws {
        let template = try decodeTemplate(fullTemplate)
        #expect(
            template.error(ofImagesIn: ImageLibrary([.solid("logo", 2, 2)]), at: "template")?.issues == [
                .init(path: "template.background.image", reason: "there is no image \"stage\"; there are logo")
            ])
        #expect(template.error(ofImagesIn: ImageLibrary())?.issues.count == 2)
        let both = ImageLibrary([.solid("logo", 2, 2), .solid("stage", 2, 2)])
        #expect(template.error(ofImagesIn: both) == nil)
    }

    @Test("text that is not in UTF-8 is told as such")
    func noUTF8() throws {
        let bytes = Array(#"{"slots":[{"name":""#.utf8) + [0xFF] + Array(#"","show":["next"]}]}"#.utf8)
        let error = try #require(
            #expect(throws: LayoutTemplateError.self) {
                try JSONDecoder().decode(LayoutTemplate.self, from: Data(bytes))
            })
        #expect(error.issues.map(\.path) == ["slots[0].name"])
        #expect(error.issues.allSatisfy { $0.reason.hasPrefix("this is text that is not in UTF-8; give a name") })
    }

    @Test("hostile JSON is refused or read, and every layout that is read can be laid out")
    func hostile() throws {
        var random = SeededGenerator(seed: 3)
        let numbers = [
            "-1", "1e308", "-1e308", "1e-320", "99999999999999999999999", "0.99", "1", "0.01", "-0", "NaN", "1e999",
            "null",
        ]
        let words = [
            "\"\"", "[]", "{}", "true", "\"screen:\"", "\"participant:\\u0000\"", "\"9999+\"", "\"#ffffff\"",
            "\"next\"",
            "\"grid\"", "\"row\"", "\"column\"", "[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]",
            "{\"a\":{\"a\":{\"a\":{}}}}",
        ]
        let scene = LayoutScene(
            cameras: [1, 2, 3, 4, 5, 6, 7], presenters: [3, 1], speakers: [5, 9, 2], names: [1: "Ada", 2: "\u{0}"])
        let seed = Array(fullTemplate.utf8)
        var (read, refused) = (0, 0)
        for round in 0..<3000 {
            var bytes = seed
            for _ in 0..<Int.random(in: 1...2, using: &random) {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                switch round % 4 {
                case 0: bytes[index] = UInt8.random(in: 0x20...0x7E, using: &random)
                case 1: bytes.remove(at: index)
                case 2: bytes.replaceNumber(from: index, with: numbers.randomElement(using: &random) ?? "0")
                default: bytes.replaceValue(from: index, with: words.randomElement(using: &random) ?? "0")
                }
            }
            guard let template = try? decodeTemplate(String(decoding: bytes, as: UTF8.self)) else {
                refused += 1
                continue
            }
            read += 1
            let canvas = VideoDimensions(
                width: .random(in: 0...300, using: &random), height: .random(in: 0...200, using: &random))
            for layer in Layout.template(template).layers(of: scene, canvas: canvas) {
                #expect(PixelRect(canvas).contains(layer.rect))
            }
        }
        #expect(read > 100 && refused > 100, "\(read) read, \(refused) refused")
    }

    @Test("JSON that nests too deep is refused")
    func deep() throws {
        for depth in [17, 100, 511, 100_000] {
            let nested = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
            #expect(throws: (any Error).self) { try decodeTemplate(#"{"slots":\#(nested)}"#) }
        }
    }
}

extension [UInt8] {
    /// Replaces the next number, if there is one.
    fileprivate mutating func replaceNumber(from index: Int, with text: String) {
        let isDigit = { (byte: UInt8) in (0x30...0x39).contains(byte) || byte == 0x2E }
        guard let start = self[index...].firstIndex(where: isDigit) else { return }
        let end = self[start...].firstIndex { !isDigit($0) } ?? count
        replaceSubrange(start..<end, with: Array(text.utf8))
    }

    /// Replaces the text after the next colon, up to the next comma or line.
    fileprivate mutating func replaceValue(from index: Int, with text: String) {
        guard let colon = self[index...].firstIndex(of: UInt8(ascii: ":")) else { return }
        let end = self[colon...].firstIndex { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "\n") } ?? count
        replaceSubrange((colon + 1)..<end, with: Array(text.utf8))
    }
}
