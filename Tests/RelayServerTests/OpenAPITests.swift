import Foundation
import HTTPTypes
import Hummingbird
import NIOPosix
import RoomAPI
import Testing

@testable import Conference
@testable import RelayServer

/// docs/openapi.json, beside the router.
@Suite("The OpenAPI description")
struct OpenAPITests {
    private static func document() throws -> [String: Any] {
        let data = try Data(contentsOf: DocumentPage.url("openapi.json"))
        return try #require(JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    /// A path with its parameters unnamed: `/rooms/*/events`.
    private static func bare(_ path: String) -> String {
        path.split(separator: "/").map { $0.hasPrefix("{") || $0.hasPrefix(":") || $0.hasPrefix("*") ? "*" : $0 }
            .joined(separator: "/")
    }

    @Test("has every route of the router, and no other")
    func routes() async throws {
        var described: [String: Set<String>] = [:]
        for (path, item) in try #require(Self.document()["paths"] as? [String: [String: Any]]) {
            described[Self.bare(path), default: []].formUnion(item.keys.map { $0.uppercased() })
        }
        let client = SignallingClient()
        let driver = RelayDriver(eventLoop: MultiThreadedEventLoopGroup.singleton.next(), workerCount: 1) { [client] in
            TwinRelay(client.script)
        }
        var routed: [String: Set<String>] = [:]
        for route in client.makeRouter(driver).routes {
            routed[Self.bare(route.path), default: []].formUnion(route.requests.map(\.method.rawValue))
        }
        await driver.close()
        #expect(routed.count > 15)
        #expect(routed == described)
    }

    @Test("is served, as it is in the documents")
    func served() async throws {
        let answer = try await SignallingClient().send(.get, "/openapi.json")
        #expect(answer.status == .ok && answer.headers[.contentType] == "application/json")
        #expect(try answer.body == DocumentPage.text("openapi.json"))
        let again = try await SignallingClient().send(
            .get, "/openapi.json", headers: [.ifNoneMatch: answer.headers[.eTag] ?? ""])
        #expect(again.status == .notModified)
    }

    @Test("refers to nothing that it does not have, and names each operation once")
    func references() throws {
        let document = try Self.document()
        var references: Set<String> = []
        var operations: [String] = []
        func visit(_ value: Any) {
            if let object = value as? [String: Any] {
                if let reference = object["$ref"] as? String { references.insert(reference) }
                if let operation = object["operationId"] as? String { operations.append(operation) }
                object.values.forEach(visit)
            } else if let list = value as? [Any] {
                list.forEach(visit)
            }
        }
        visit(document)
        #expect(references.count > 20)
        for reference in references {
            let found = reference.split(separator: "/").dropFirst().reduce(document as Any?) { value, key in
                (value as? [String: Any])?[String(key)]
            }
            #expect(found != nil, "\(reference)")
        }
        #expect(Set(operations).count == operations.count)
    }

    @Test("allows in the body of a request no keys that it does not name")
    func strictBodies() throws {
        let paths = try #require(Self.document()["paths"] as? [String: [String: Any]])
        var count = 0
        for (path, item) in paths where !path.hasPrefix("/cascade") {
            for (method, operation) in item {
                let body = (operation as? [String: Any])?["requestBody"] as? [String: Any]
                let json = (body?["content"] as? [String: Any])?["application/json"] as? [String: Any]
                guard let schema = json?["schema"] as? [String: Any],
                    schema["$ref"] as? String != "#/components/schemas/Overlays"
                else { continue }
                count += 1
                #expect(schema["unevaluatedProperties"] as? Bool == false, "\(method) \(path)")
            }
        }
        #expect(count > 10)
    }

    /// The properties of a schema, by names.
    private static func properties(_ schema: String) throws -> (names: Set<String>, required: Set<String>) {
        let components = try document()["components"] as? [String: [String: Any]]
        let found = try #require(components?["schemas"]?[schema] as? [String: Any], "\(schema)")
        return (
            Set((found["properties"] as? [String: Any] ?? [:]).keys), Set(found["required"] as? [String] ?? [])
        )
    }

    private static func keys(_ value: some Encodable) throws -> Set<String> {
        let object = try JSONSerialization.jsonObject(with: JSONEncoder().encode(value)) as? [String: Any]
        return Set(try #require(object).keys)
    }

    @Test("has the fields of what is answered, those that are always there as required")
    func fields() throws {
        func check(_ schema: String, _ value: some Encodable) throws {
            let (names, required) = try Self.properties(schema)
            let keys = try Self.keys(value)
            #expect(keys.subtracting(names).isEmpty, "\(schema) lacks \(keys.subtracting(names))")
            #expect(required.subtracting(keys).isEmpty, "\(schema): \(required.subtracting(keys)) is not always there")
        }
        try check("Room", RoomSnapshot(id: "demo"))
        try check("Participant", ParticipantSnapshot(id: "p1", name: "Ada", role: "watch"))
        try check("Uplink", UplinkSnapshot())
        try check("Downlink", DownlinkSnapshot())
        try check("ScreenShare", ScreenShareSnapshot())
        try check("RelayEvent", RelayEvent(id: "e", type: .roomStarted, time: "2026-01-01T00:00:00.000Z"))
        var event = RelayEvent(id: "e", type: .participantLeft, time: "2026-01-01T00:00:00.000Z", room: "demo")
        event.roomSession = "s"
        event.participant = .init(id: "p1", name: "Ada", role: .watch, address: "192.0.2.1")
        event.reason = "left"
        event.duration = 1
        event.suppressed = 1
        event.moderation = ModerationEvent(.muted, by: RoomActor(name: "Ben"))
        event.recording = RecordingStatus(id: "r1", state: .recording)
        event.stream = StreamStatus(.live, ofRoom: "demo")
        event.output = OutputStatus(id: "o1", state: .live)
        event.player = PlayerStatus(id: "p1", name: "Talk", state: .playing)
        event.request = .init(method: "GET", path: "/rooms", status: 401, address: nil)
        event.overload = .init(from: "normal", to: "normal", seatsLeft: 1)
        let waiting = OutputStatus(id: "o1", name: "Example", state: .waiting, reason: .refused)
        try check("OutputStatus", waiting)
        try check("Output", OutputDescription(waiting, url: "rtmp://host/…", detail: "gone", nextTry: "2026"))
        try check("OutputStatus", OutputStatus(id: "o1", state: .live))
        try check("Output", OutputDescription(OutputStatus(id: "o1", state: .live), url: "rtmp://host/…"))
        let paused = PlayerStatus(id: "p1", name: "Talk", state: .paused, reason: .failed)
        try check("PlayerStatus", paused)
        try check("PlayerStatus", PlayerStatus(id: "p1", name: "Talk", state: .playing))
        try check("Player", PlayerDescription(paused, url: "a", settings: PlayerSettings(), detail: "b", duration: 1))
        try check("Player", PlayerDescription(paused, url: "a", settings: PlayerSettings()))
        #expect(try Self.keys(event) == Self.properties("RelayEvent").names)
    }

    @Test("lets through the names that rooms may have, and members' ids, those of players too")
    func patterns() throws {
        let components = try #require(Self.document()["components"] as? [String: [String: [String: Any]]])
        func takes(_ text: String, as parameter: String) throws -> Bool {
            let schema = try #require(components["parameters"]?[parameter]?["schema"] as? [String: Any])
            let pattern = try Regex(#require(schema["pattern"] as? String))
            return text.count <= schema["maxLength"] as? Int ?? .max && text.contains(pattern)
        }
        let names = ["demo", "a.b", "_", ".a", "..a", "...", ".", "..", "", "a b", "ä"]
        for name in names + [63, 64, 65].map({ String(repeating: "a", count: $0) }) {
            #expect(try takes(name, as: "room") == ((try? RoomName(name)) != nil), "\(name)")
        }
        for id in ["4sfyq2kfmg8w", "4sfyq2kfmg8w.0b9ef49f9f2cef774797", RelayDriver.makeID("player")] {
            #expect(try takes(id, as: "session"), "\(id)")
        }
    }

    @Test("has a schema of each server-sent event and each type of webhook event")
    func events() throws {
        let events = try Self.properties("RoomEvents").names
        let source = try String(
            contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appending(path: "../../Sources/RelayServer/Events/RoomFeedMessage.swift").standardizedFileURL,
            encoding: .utf8)
        let sent = Set(source.matches(of: #/encode\("(\w+)",/#).map { String($0.output.1) })
        #expect(sent.count > 8)
        #expect(events == sent)
        let text = try DocumentPage.text("openapi.json")
        for reason in OutputStatus.Reason.allCases { #expect(text.contains("\"\(reason.rawValue)\""), "\(reason)") }
        for reason in PlayerStatus.Reason.allCases { #expect(text.contains("\"\(reason.rawValue)\""), "\(reason)") }
        for kind in RelayEvent.Kind.allCases { #expect(text.contains("\"\(kind.rawValue)\""), "\(kind)") }
    }

    @Test("has the names of all layouts, as docs/layouts.md and the page's menu have")
    func layouts() throws {
        let components = try #require(Self.document()["components"] as? [String: [String: [String: Any]]])
        func names(of schema: String) -> [String]? {
            let properties = components["schemas"]?[schema]?["properties"] as? [String: [String: Any]]
            return properties?["layout"]?["enum"] as? [String]
        }
        let all = LayoutMode.Name.allCases
        for schema in ["RoomLayout", "ParticipantLayout"] { #expect(names(of: schema) == all.map(\.rawValue)) }
        let ofFilms = LayoutMode.Name.builtIn.filter { !$0.isAboutParticipant }
        #expect(names(of: "ExportRequest") == ofFilms.map(\.rawValue))
        let page = try DocumentPage.text("layouts.md")
        for name in all { #expect(page.contains("`\(name.rawValue)`"), "\(name)") }
        let menu = String(buffer: try #require(WebFiles.embedded["layout-menu.js"]).contents)
        // The menu has no entry for `pinned`: people are pinned in the list of people.
        for name in LayoutMode.Name.builtIn where name != .pinned {
            #expect(menu.contains("{ layout: '\(name.rawValue)', name: "), "\(name)")
        }
    }
}
