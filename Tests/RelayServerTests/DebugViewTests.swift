import Compositing
import Foundation
import FoundationXML
import HTTPTypes
import MediaCore
import NIOCore
import Synchronization
import Testing

@testable import Conference
@testable import RelayServer

/// A room with somebody of each kind in it, in the last minute of which something of everything happened.
enum TimelineExample {
    static let hostileName = "<script>alert('x')</script>&\"\u{202E}\u{FFFE}]]>"

    static func snapshot(name: String = "Ben") -> RoomTimelineSnapshot {
        var snapshot = RoomTimelineSnapshot(room: "demo")
        let count = snapshot.bucketCount
        func every(_ step: Int, _ value: UInt16 = 1, offset: Int = 0) -> [UInt16] {
            (0..<count).map { ($0 + offset).isMultiple(of: step) ? value : 0 }
        }
        let three = [UInt16](repeating: 3, count: count)
        snapshot.ticks.taken = three
        snapshot.ticks.composed = three
        snapshot.ticks.skipped = every(200)
        snapshot.ticks.missed = every(150)
        snapshot.ticks.late = every(120)
        snapshot.ticks.rendered = three
        snapshot.ticks.reused = every(2)
        snapshot.ticks.passedThrough = every(3)
        snapshot.ticks.fellBack = every(300)
        snapshot.ticks.slowest = (0..<count).map { 8 + Double($0 % 7) }
        let ben = RoomTimelineSnapshot.Person(id: "p2", name: name)
        var source = RoomTimelineSnapshot.Source(person: ben, began: -50)
        source.arrived = (0..<count).map { $0 < 400 || $0 > 450 ? 3 : 0 }
        source.decoded = source.arrived
        source.dropped = every(100)
        source.withheld = every(100, offset: 50)
        source.packetsLost = every(90)
        source.keyframes = every(80)
        source.keyframeRequests = every(170)
        source.states = [
            .init(state: .waiting, start: -50, end: -49), .init(state: .playing, start: -49, end: -19.9),
            .init(state: .frozen, start: -19.9, end: -14.9, cause: .nothingArrived),
            .init(state: .playing, start: -14.9, end: -2), .init(state: .frozen, start: -2, cause: .packetsLost),
        ]
        source.formats = [.init(time: -49, width: 640, height: 360), .init(time: -10, width: 360, height: 640)]
        snapshot.sources = [source]
        var instruction = RoomTimelineSnapshot.Instruction(start: -8, end: -7.7)
        var layer = RoomTimelineSnapshot.Layer(source: name, x: 0, y: 0, width: 640, height: 720)
        layer.opacityRamps = [.init(start: -8, end: -7.7, from: 0, to: 1, easing: .easeInOut)]
        layer.isMoving = true
        instruction.layers = [layer, .init(source: "Ada", x: 640, y: 0, width: 640, height: 720)]
        instruction.containsTweening = true
        var passed = RoomTimelineSnapshot.Instruction(start: -40, end: -8)
        passed.layers = [.init(source: name, x: 0, y: 0, width: 1280, height: 720)]
        passed.passthrough = name
        var steady = RoomTimelineSnapshot.Instruction(start: -7.7)
        steady.layers = instruction.layers
        var view = RoomTimelineSnapshot.View(receivers: [ben], width: 1280, height: 720)
        view.instructions = [passed, instruction, steady]
        view.issues = ["a layer of <\(name)> is empty"]
        snapshot.views = [view]
        var audio = RoomTimelineSnapshot.Audio(person: ben)
        audio.level = (0..<count).map { $0 < 100 ? nil : UInt8(20 + $0 % 40) }
        audio.gain = (0..<count).map { $0 % 40 < 30 ? 1 : 0 }
        audio.isVoice = (0..<count).map { $0 % 40 < 20 }
        audio.concealed = every(40, 40)
        audio.mixLevel = (0..<count).map { $0 < 100 ? nil : 25 }
        snapshot.audio = [audio]
        snapshot.mix.limiterGain = (0..<count).map { $0 % 100 < 5 ? 0.5 : 1 }
        snapshot.mix.encodes = three
        var encoder = RoomTimelineSnapshot.Encoder(
            id: 7, members: [ben], width: 1280, height: 720, maximumFrameRate: 30)
        encoder.targetBitRate = (0..<count).map { $0 < 100 ? nil : $0 < 300 ? 900 : 350 }
        encoder.encoded = (0..<count).map { $0 < 400 ? 3 : 2 }
        encoder.leftOut = (0..<count).map { $0 < 400 ? 0 : 1 }
        encoder.waiting = encoder.leftOut
        encoder.keyframes = every(140)
        encoder.keyframeRequests = [-30, -12, -1].map { .init(time: $0, name: name) }
        snapshot.encoders = [encoder]
        return snapshot
    }
}

/// Reads a drawing as a program would.
private final class DrawingReader: NSObject, XMLParserDelegate {
    private(set) var elements: [String: Int] = [:]
    private(set) var classes: Set<String> = []
    private(set) var titles: [String] = []
    private(set) var texts: [String] = []
    private(set) var isWellFormed = false
    private(set) var attributes: [String] = []
    private var text = ""

    init(_ svg: String) {
        super.init()
        let parser = XMLParser(data: Data(svg.utf8))
        parser.delegate = self
        isWellFormed = parser.parse()
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        elements[name, default: 0] += 1
        classes.formUnion((attributes["class"] ?? "").split(separator: " ").map(String.init))
        self.attributes += attributes.map { "\($0)=\($1)" }
        text = ""
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
        if name == "title" { titles.append(text) }
        if name == "text" { texts.append(text) }
        text = ""
    }
}

@Suite("The drawing of a room's last minute")
struct TimelineSVGTests {
    private static let stylesheet = WebFiles.embedded["timeline.css"].map { String(buffer: $0.contents) } ?? ""

    private func read(_ snapshot: RoomTimelineSnapshot) -> DrawingReader {
        DrawingReader(TimelineSVG(snapshot: snapshot, madeAt: "now", stylesheet: Self.stylesheet).svg)
    }

    @Test("it is well-formed, has a row for everything, and states the problem")
    func structure() {
        let drawing = read(TimelineExample.snapshot())
        #expect(drawing.isWellFormed)
        for text in ["Pictures in", "Composition", "Pictures out", "Audio", "−60 s", "now", "+1 s", "Room demo"] {
            #expect(drawing.texts.contains(text), "\(text)")
        }
        for text in ["nothing came", "360×640", "passed through", "frozen for 2.0 s"] {
            #expect(drawing.texts.contains(text), "\(text)")
        }
        let findings = TimelineExample.snapshot().findings
        #expect(!findings.isEmpty)
        for finding in findings.prefix(8) { #expect(drawing.texts.contains(finding.text)) }
    }

    @Test("faults are described in words with their causes, present ones first")
    func findings() throws {
        let findings = TimelineExample.snapshot().findings
        let texts = findings.map(\.text)
        let severities = findings.map(\.severity)
        let (present, past) = (severities.lastIndex(of: .now), severities.firstIndex(of: .lately))
        #expect(try #require(present) < #require(past))
        for text in [
            "picture stands still since 2.0 s: 7 packets of theirs lost", "3 ticks skipped",
            "4 ticks left out and 5 late",
            "2 pictures could not be composed", "were left out: the way to them carries no more (350 kbit/s)",
            "asked for 3 keyframes", "audio were made up: packets from them", "is wrong: a layer of",
        ] {
            #expect(texts.contains { $0.contains(text) }, "\(text) in \(texts)")
        }
    }

    @Test("an overloaded relay is not blamed on the participants that suffer from it")
    func overload() {
        var snapshot = TimelineExample.snapshot()
        snapshot.ticks.skipped = [UInt16](repeating: 1, count: snapshot.bucketCount)
        let texts = snapshot.findings.map(\.text)
        #expect(texts.contains { $0.contains("were left out: the relay is too busy") })
        #expect(texts.contains { $0.contains("made up: the relay was too busy") })
        #expect(!texts.contains { $0.contains("carries no more") })
    }

    @Test("tooltips have exact figures")
    func tooltips() {
        let titles = read(TimelineExample.snapshot()).titles
        #expect(titles.contains { $0.contains("30 frames arrived") && $0.contains("0 dropped") })
        #expect(titles.contains { $0.contains("frozen −19.9 s to −14.9 s") && $0.contains("nothing came from them") })
        #expect(titles.contains { $0.contains("target 350 kbit/s") && $0.contains("10 left out") })
        #expect(titles.contains { $0.contains("asked for a keyframe") })
        #expect(titles.contains { $0.contains("640×720 at 640, 0") && $0.contains("opacity 0.0 → 1.0 (ease-in-out)") })
        #expect(titles.contains { $0.contains("limiter down to −6.0 dB") })
    }

    @Test("each class that is drawn has a colour for light and dark grounds, and each colour is used")
    func classes() {
        var snapshot = TimelineExample.snapshot()
        snapshot.sources[0].states += [.init(state: .gone, start: -1), .init(state: .off, start: -0.5)]
        var calm = RoomTimelineSnapshot(room: "calm")
        calm.audio = [RoomTimelineSnapshot.Audio(person: .init(id: "p", name: "Ada"))]
        calm.audio[0].ended = -3
        let drawn = read(snapshot).classes.union(read(calm).classes)
        let ruled = Set(Self.stylesheet.matches(of: /\.(t-[a-z-]+)/).map { String($0.1) })
        let unruled = drawn.subtracting(ruled).subtracting(["timeline", "t-there"])
        #expect(unruled.isEmpty, "without rules: \(unruled)")
        #expect(ruled.subtracting(drawn).isEmpty, "never drawn: \(ruled.subtracting(drawn))")
        #expect(Self.stylesheet.contains("prefers-color-scheme: dark") && !Self.stylesheet.contains("var("))
    }

    @Test("names are shown as text, not markup, and do not change the direction of the text around them")
    func hostileNames() {
        var snapshot = TimelineExample.snapshot(name: TimelineExample.hostileName)
        snapshot.sources.append(snapshot.sources[0])
        snapshot.sources[1].content = .screenShare
        let svg = TimelineSVG(snapshot: snapshot, madeAt: "now", stylesheet: Self.stylesheet).svg
        let drawing = DrawingReader(svg)
        #expect(drawing.isWellFormed)
        #expect(drawing.elements["script"] == nil && !svg.contains("<script"))
        #expect(!drawing.attributes.contains { $0.hasPrefix("on") || $0.hasPrefix("href") })
        // In sentences each name is isolated.
        #expect(drawing.titles.contains { $0.contains("alert") })
        for title in drawing.titles where title.contains("alert") {
            #expect(title.contains("\u{2068}") && title.contains("\u{2069}"))
        }
    }

    @Test("a room in which nothing is known yet can be drawn")
    func empty() {
        let drawing = read(RoomTimelineSnapshot(room: "new"))
        #expect(drawing.isWellFormed)
        #expect(drawing.texts.contains { $0.contains("Nothing is wrong") })
        #expect(drawing.texts.contains("Nobody sends pictures") && drawing.texts.contains("Nobody gets pictures"))
    }

    @Test("figures of any kind make no number that is none, and no place outside the drawing")
    func oddFigures() {
        var snapshot = TimelineExample.snapshot()
        snapshot.tickInterval = 0
        snapshot.ticks.slowest = [.infinity, .nan, -1]
        snapshot.ticks.missed = [.max, .max]
        snapshot.sources[0].decoded = Array(repeating: .max, count: 1000)
        snapshot.sources[0].arrived = []
        snapshot.sources[0].states = [.init(state: .frozen, start: -.infinity, end: .nan)]
        snapshot.views[0].instructions[0].start = .nan
        snapshot.mix.limiterGain = [0, -1, .nan, 2]
        let svg = TimelineSVG(snapshot: snapshot).svg
        #expect(DrawingReader(svg).isWellFormed)
        #expect(!svg.contains("nan") && !svg.contains("inf"))
    }

    @Test("the drawing of a full room stays small, and the same snapshot gives the same text")
    func size() {
        var snapshot = TimelineExample.snapshot()
        snapshot.sources = Array(repeating: snapshot.sources[0], count: 50)
        snapshot.audio = Array(repeating: snapshot.audio[0], count: 50)
        snapshot.encoders = Array(repeating: snapshot.encoders[0], count: 50)
        let svg = TimelineSVG(snapshot: snapshot).svg
        #expect(svg == TimelineSVG(snapshot: snapshot).svg)
        #expect(svg.utf8.count < 4_000_000)
    }
}

@Suite("The debug view over HTTP")
struct DebugViewTests {
    private let client = SignallingClient()

    init() {
        client.script.state.withLock {
            $0.timelines = [TimelineExample.snapshot(name: TimelineExample.hostileName)]
            $0.snapshot.rooms = $0.timelines.map { RoomSnapshot(id: $0.room) }
        }
    }

    @Test(
        "browsers and clients that accept anything get the page, others the type that they ask for",
        arguments: [
            (nil, "text/html; charset=utf-8"), ("*/*", "text/html; charset=utf-8"),
            ("text/html,application/xhtml+xml,image/avif,*/*;q=0.8", "text/html; charset=utf-8"),
            ("image/svg+xml", "image/svg+xml"), ("image/avif,image/svg+xml,image/*,*/*;q=0.8", "image/svg+xml"),
            ("application/json", "application/json"), ("text/html;q=0.1, application/json;q=0.2", "application/json"),
        ])
    func negotiation(accept: String?, type: String) async throws {
        var headers: HTTPFields = [:]
        headers[.accept] = accept
        let answer = try await client.send(.get, "/rooms/demo/debug", headers: headers)
        #expect(answer.status == .ok)
        #expect(answer.headers[.contentType] == type)
        #expect(answer.headers[.vary] == "Accept")
    }

    @Test("the page has the strict policy of all pages, and nothing inline")
    func page() async throws {
        let answer = try await client.send(.get, "/rooms/demo/debug")
        #expect(answer.headers[.contentSecurityPolicy] == SignallingRouter.contentSecurityPolicy())
        #expect(!answer.body.contains("<style") && !answer.body.contains(" style=") && !answer.body.contains("://"))
        #expect(answer.body.matches(of: #/<script(?![^>]*\ssrc=)/#).isEmpty)
        #expect(!answer.body.contains("alert"))
    }

    @Test("the drawing is self-contained, is not kept, and may draw nothing")
    func drawing() async throws {
        let answer = try await client.send(.get, "/rooms/demo/debug.svg")
        #expect(answer.headers[.contentType] == "image/svg+xml")
        #expect(answer.headers[.cacheControl] == "no-store")
        let policy = try #require(answer.headers[.contentSecurityPolicy])
        #expect(policy.contains("default-src 'none'") && policy.contains("sandbox") && !policy.contains("script-src"))
        #expect(answer.headers[.xContentTypeOptions] == "nosniff")
        #expect(DrawingReader(answer.body).isWellFormed)
        #expect(answer.body.contains("<style") && !answer.body.contains("<script"))
    }

    @Test("the data can be read back")
    func data() async throws {
        let answer = try await client.send(.get, "/rooms/demo/debug.json")
        #expect(answer.headers[.contentType] == "application/json")
        let read = try JSONDecoder().decode(RoomTimelineSnapshot.self, from: Data(answer.body.utf8))
        #expect(read == TimelineExample.snapshot(name: TimelineExample.hostileName))
    }

    @Test(
        "a missing room gives a problem document that says so",
        arguments: ["/rooms/other/debug", "/rooms/other/debug.svg", "/rooms/other/debug.json"])
    func noRoom(path: String) async throws {
        let answer = try await client.send(.get, path)
        #expect(answer.status == .notFound)
        #expect(answer.headers[.contentType] == "application/problem+json")
        #expect(answer.detail.contains("there is no room \"other\""))
        #expect(try await client.send(.get, path.replacing("other", with: "a%20b")).status == .badRequest)
    }
}
