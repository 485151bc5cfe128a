import MediaCore
import Testing

@testable import ConferenceClient

@Suite("Events of a room")
struct EventStreamTests {
    private func events(_ text: String, cutEvery size: Int) -> [EventStreamParser.Event] {
        var parser = EventStreamParser()
        let bytes = Array(text.utf8)
        return stride(from: 0, to: bytes.count, by: size).flatMap { start in
            parser.append(Array(bytes[start...].prefix(size)))
        }
    }

    @Test("events are the same however the stream is cut, and whichever way its lines end", arguments: [1, 2, 7, 1000])
    func cuts(size: Int) {
        let text = "retry: 2000\nid: 1\nevent: room\ndata: {\"a\":1}\n\n:\n\ndata:x\ndata: y\n\nevent: lost"
        let expected = [
            EventStreamParser.Event(name: "room", data: "{\"a\":1}"), .init(name: "message", data: "x\ny"),
        ]
        #expect(events(text, cutEvery: size) == expected)
        #expect(events(text.replacing("\n", with: "\r\n"), cutEvery: size) == expected)
        #expect(events(text.replacing("\n", with: "\r"), cutEvery: size) == expected)
    }

    @Test("an event that does not end is not collected without end")
    func endless() {
        var parser = EventStreamParser()
        let chunk = [UInt8](repeating: 0x61, count: 1 << 18)
        var events: [EventStreamParser.Event] = []
        for _ in 0..<8 { events += parser.append(chunk) }
        #expect(events.isEmpty)
        events = parser.append(Array("\n\ndata: 1\n\n".utf8))
        #expect(events == [.init(data: "1")])
    }

    @Test("a call is over for the client when a moderator ends it, or removes the client")
    func dismissals() {
        func reason(_ name: String, _ data: String) -> String? {
            DismissalEvent.reason(EventStreamParser.Event(name: name, data: data), of: "me")
        }
        let removed = #"{"action":"removed","participant":"me","by":{"participant":"ada","name":"Ada"}}"#
        #expect(reason("moderated", removed) == "Ada removed us from the call")
        let ended = #"{"action":"ended","by":{"name":"Ada"}}"#
        #expect(reason("moderated", ended) == "Ada ended the call for everyone")
        for event in [
            removed.replacing(#""me""#, with: #""you""#), removed.replacing("removed", with: "muted"),
            removed.replacing("removed", with: "unknown"), "{}", "",
        ] { #expect(reason("moderated", event) == nil) }
        #expect(reason("participantLeft", removed) == nil)
    }

    @Test("only the client's own camera tile is read from the room's events")
    func tiles() {
        func size(_ name: String, _ data: String) -> VideoDimensions? {
            TileEvent.size(EventStreamParser.Event(name: name, data: data), of: "me")
        }
        let mine = #"{"participant":"me","content":"camera","width":320,"height":180,"bitRate":1}"#
        let screen = #"{"participant":"me","content":"screenShare","width":640,"height":360,"bitRate":0}"#
        let other = #"{"participant":"you","content":"camera","width":640,"height":360,"bitRate":5}"#
        let expected = VideoDimensions(width: 320, height: 180)
        #expect(size("tileChanged", mine) == expected)
        #expect(size("room", #"{"id":"demo","tiles":[\#(mine),\#(screen),\#(other)]}"#) == expected)
        for event in [screen, other, "", "[]", mine.replacing("320", with: "-1"), mine.replacing("320", with: "1e9")] {
            #expect(size("tileChanged", event) == nil)
        }
        #expect(size("participantLeft", mine) == nil)
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<3000 {
            var bytes = Array(mine.utf8)
            bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            _ = size("tileChanged", String(decoding: bytes, as: UTF8.self))
        }
    }
}
