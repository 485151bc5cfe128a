import Compositing
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import MediaCore
import NIOCore
import NIOPosix
import RoomAPI
import Synchronization
import Testing

@testable import Conference
@testable import RelayServer

@Suite("GET of a room's events")
struct EventStreamTests {
    private let client = SignallingClient()
    private var script: TwinRelay.Script { client.script }

    private func openRoom() {
        let ada = ParticipantSummary(id: "p1", name: "Ada", role: .watch, microphone: false, camera: false)
        let tile = RoomTile(
            participant: "p1", content: .camera, size: VideoDimensions(width: 640, height: 360), bitRate: .kilobits(700)
        )
        script.state.withLock {
            $0.rooms = ["demo": RoomState(id: "demo", layout: .speaker, participants: [ada], tiles: [tile])]
            $0.snapshot.rooms = [RoomSnapshot(id: "demo", participants: [.init(id: "p1", name: "Ada", role: "watch")])]
        }
    }

    private func makeDriver() -> RelayDriver {
        RelayDriver(eventLoop: MultiThreadedEventLoopGroup.singleton.next(), workerCount: 1) { [script] in
            TwinRelay(script)
        }
    }

    /// Hands on a response's parts as they are written.
    private struct Writer: ResponseBodyWriter {
        let parts: AsyncStream<String>.Continuation

        func write(_ buffer: ByteBuffer) async throws { parts.yield(String(buffer: buffer)) }
        func finish(_ trailers: HTTPFields?) async throws { parts.finish() }
    }

    @Test("the state comes first, then the events, until the relay ends")
    func stream() async throws {
        openRoom()
        let driver = makeDriver()
        let response = try await client.respond(driver, .get, "/rooms/demo/events")
        #expect(response.status == .ok)
        #expect(response.headers[.contentType] == "text/event-stream")
        #expect(response.headers[.cacheControl] == "no-store" && response.headers[.accelBuffering] == "no")
        let (parts, continuation) = AsyncStream.makeStream(of: String.self)
        let writing = Task { try await response.body.write(Writer(parts: continuation)) }
        // A machine that takes its time gets signs of life in between.
        var iterator = parts.filter { $0 != ":\n\n" }.makeAsyncIterator()
        let state = try #require(await iterator.next())
        #expect(
            state == "retry: 2000\nid: 0\nevent: room\ndata: "
                + "{\"entry\":{\"lobby\":false,\"locked\":false,\"pin\":false},"
                + "\"id\":\"demo\",\"layout\":{\"layout\":\"speaker\"},"
                + "\"outputs\":[],\"overlays\":[],"
                + "\"participants\":[{\"accessRole\":\"presenter\",\"avatar\":false,\"camera\":false,"
                + "\"cameraOff\":false,\"connection\":\"new\",\"hand\":false,\"id\":\"p1\",\"isSpeaking\":false,"
                + "\"microphone\":false,\"muted\":false,\"name\":\"Ada\",\"role\":\"watch\",\"screenShare\":false}],"
                + "\"players\":[],\"tiles\":[{\"bitRate\":700000,\"content\":\"camera\",\"height\":360,\"participant\":\"p1\",\"width\":640}],"
                + "\"waiting\":0}\n\n"
        )
        script.state.withLock { $0.events = [RoomEvent(room: "demo", kind: .layoutChanged(.grid))] }
        // Any request makes the driver ask the relay for its events.
        _ = await driver.leave(room: "demo", participant: "nobody")
        #expect(await iterator.next() == "id: 1\nevent: layoutChanged\ndata: {\"layout\":\"grid\"}\n\n")
        await driver.close()
        #expect(await iterator.next() == nil)
        try await writing.value
    }

    @Test("a client of HTTP/1.0 gets the events without chunks, and its connection is closed behind an answer")
    func oldClient() async throws {
        openRoom()
        try await RunningServer.run(script: script) { server in
            let request = "HTTP/1.0\r\nHost: relay\r\nConnection: keep-alive\r\n\r\n"
            let whole = try await server.exchange("GET /readyz \(request)")
            #expect(whole.hasPrefix("HTTP/1.0 200 "))
            try await server.connect().executeThenClose { inbound, outbound in
                try await outbound.write(ByteBuffer(string: "GET /rooms/demo/events \(request)"))
                var answer = ""
                for try await part in inbound {
                    answer += String(buffer: part)
                    if answer.contains("event: room\n") { break }
                }
                #expect(answer.hasPrefix("HTTP/1.0 200 "))
                #expect(answer.contains("\r\n\r\nretry: 2000\nid: 0\nevent: room\n"))
                #expect(!answer.lowercased().contains("chunked"))
            }
        }
    }

    /// Lets its writer continue only when the test allows it.
    private actor SlowWriter: ResponseBodyWriter {
        private var isOpen = false
        private var waiting: CheckedContinuation<Void, Never>?
        private(set) var parts: [String] = []

        func write(_ buffer: ByteBuffer) async throws {
            parts.append(String(buffer: buffer))
            if !isOpen { await withCheckedContinuation { waiting = $0 } }
        }

        func finish(_ trailers: HTTPFields?) async throws {}

        func open() {
            isOpen = true
            waiting?.resume()
            waiting = nil
        }
    }

    @Test("a slow subscriber keeps its connection, and gets the newest state instead of the events it missed")
    func slowSubscriber() async throws {
        openRoom()
        let driver = makeDriver()
        let response = try await client.respond(driver, .get, "/rooms/demo/events")
        let writer = SlowWriter()
        let writing = Task { try await response.body.write(writer) }
        try await eventually { await !writer.parts.isEmpty }
        script.state.withLock {
            $0.events = (0...RoomFeedHub.queueLength).map { _ in RoomEvent(room: "demo", kind: .layoutChanged(.grid)) }
            $0.rooms["demo"]?.layout = .grid
        }
        _ = await driver.leave(room: "demo", participant: "nobody")
        #expect(await driver.report().eventSubscriberOverruns == 1)
        await writer.open()
        try await eventually { await driver.report().eventSubscribers > 0 }
        script.state.withLock { $0.events = [RoomEvent(room: "demo", kind: .layoutChanged(.speaker))] }
        _ = await driver.leave(room: "demo", participant: "nobody")
        await driver.close()
        try await writing.value
        let parts = await writer.parts
        let last = RoomFeedHub.queueLength + 2
        #expect(parts.count == 3)
        #expect(parts[1].contains("id: \(last - 1)\nevent: room\n"))
        #expect(parts[1].contains(#""layout":{"layout":"grid"}"#))
        #expect(parts[2] == "id: \(last)\nevent: layoutChanged\ndata: {\"layout\":\"speaker\"}\n\n")
    }

    private static let removal = RoomEvent.Kind.moderated(
        ModerationEvent(.removed, participant: "p2", by: RoomActor(name: "Ada")))

    /// Expects that events end for the one whom a moderator's act shuts out, with that act, and go on for the other.
    private func expectEventsEnd(
        _ proofs: (stays: String, goes: String?), _ client: SignallingClient, with act: RoomEvent.Kind = removal,
        named name: String = "moderated", removing remove: @Sendable (inout TwinRelay.Script.State) -> Void
    ) async throws {
        let driver = makeDriver()
        var readers: [(parts: AsyncStream<String>, writing: Task<Void, any Error>)] = []
        for proof in [proofs.stays, proofs.goes] as [String?] {
            var headers: HTTPFields = [:]
            headers[.authorization] = proof.map { "Bearer \($0)" }
            let response = try await client.respond(driver, .get, "/rooms/demo/events", headers: headers)
            let (parts, continuation) = AsyncStream.makeStream(of: String.self)
            readers.append((parts: parts, writing: Task { try await response.body.write(Writer(parts: continuation)) }))
        }
        for kind in [act, .layoutChanged(.grid)] {
            script.state.withLock {
                remove(&$0)
                $0.events = [RoomEvent(room: "demo", kind: kind)]
            }
            _ = await driver.leave(room: "demo", participant: "nobody")
        }
        await driver.close()
        for (index, reader) in readers.enumerated() {
            let text = await reader.parts.reduce("", +)
            #expect(text.contains("event: \(name)") && text.contains("event: layoutChanged") == (index == 0))
            try await reader.writing.value
        }
    }

    @Test("events end for the bearer of a token whom a moderator removes, and go on for others")
    func removedBearer() async throws {
        openRoom()
        let path = FileManager.default.temporaryDirectory.appending(path: "confrelay-keys-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try AccessKeys.newFile(.hs256, id: "main").write(toFile: path, atomically: true, encoding: .utf8)
        let keys = try KeyStore(file: path, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        var client = self.client
        client.keys = keys
        func token(of identity: String) async throws -> String {
            var claims = AccessClaims(room: "demo")
            claims.identity = identity
            return try await keys.current.sign(claims)
        }
        let (ada, ben) = (try await token(of: "ada"), try await token(of: "ben"))
        try await expectEventsEnd((stays: ada, goes: ben), client) { $0.keptOut = ["ben"] }
    }

    @Test("events end for the member whom a moderator removes, by the key of whose session they were asked for")
    func removedMember() async throws {
        openRoom()
        script.state.withLock {
            $0.access = ["demo": RoomAccess()]
            $0.grants = ["p1": MemberGrants(role: .moderator), "p2": .open]
        }
        let (ada, ben) = (SignallingClient.session("p1"), SignallingClient.session("p2"))
        try await expectEventsEnd((stays: ada, goes: ben), client) { $0.grants["p2"] = nil }
    }

    @Test("events end for those outside when a moderator gives the room a PIN, and go on for members")
    func pin() async throws {
        openRoom()
        script.state.withLock {
            $0.access = ["demo": RoomAccess()]
            $0.grants = ["p1": .open]
        }
        let proofs: (stays: String, goes: String?) = (SignallingClient.session("p1"), nil)
        let entry = RoomEvent.Kind.entryChanged(RoomEntryState(pin: true), waiting: 0)
        try await expectEventsEnd(proofs, client, with: entry, named: "entryChanged") {
            $0.access["demo"]?.pin = [1]
        }
    }

    @Test("a response that is dropped is forgotten")
    func droppedResponse() async throws {
        openRoom()
        let driver = makeDriver()
        do {
            let response = try await client.respond(driver, .get, "/rooms/demo/events")
            #expect(await driver.report().eventSubscribers == 1)
            withExtendedLifetime(response) {}
        }
        try await eventually { await driver.report().eventSubscribers == 0 }
        await driver.close()
    }

    @Test("statistics come by themselves, once a second")
    func statistics() async throws {
        openRoom()
        let driver = makeDriver()
        let feed = try await driver.follow(room: "demo", participant: "p1")
        var messages = feed.messages.makeAsyncIterator()
        let message = try #require(await messages.next())
        guard case .statistics(let statistics) = message.content else {
            Issue.record("it was \(message.content)")
            return
        }
        #expect(statistics.participant == "p1")
        await driver.close()
    }

    @Test(
        "a room or a participant that is not there gets 404",
        arguments: ["/rooms/other/events", "/rooms/demo/events?participant=p9"])
    func notFound(path: String) async throws {
        openRoom()
        #expect(try await client.send(.get, path).status == .notFound)
    }

    @Test("a member of whom others are not told follows the room, and learns whether the session goes on")
    func hiddenMember() async throws {
        openRoom()
        script.state.withLock {
            $0.access = ["demo": RoomAccess()]
            $0.grants = ["p2": MemberGrants(role: .recorder, isHidden: true)]
        }
        let driver = makeDriver()
        _ = try await driver.follow(room: "demo", participant: "p2")
        let session = SignallingClient.session("p2")
        let present = try await client.answer(driver, .get, "/rooms/demo/participants/\(session)")
        #expect(present.status == .noContent)
        #expect(try await client.answer(driver, .get, "/rooms/demo/participants/p2").status == .notFound)
        script.state.withLock { $0.grants["p2"] = nil }
        let gone = try await client.answer(driver, .get, "/rooms/demo/participants/\(session)")
        #expect(gone.status == .notFound)
        await driver.close()
    }

    @Test("who begins to follow a room while the relay drains is told to move, too")
    func moving() async throws {
        openRoom()
        let driver = makeDriver()
        await driver.beginDraining(isMoving: true)
        let moved = try await driver.follow(room: "demo", participant: nil)
        _ = await driver.endDraining()
        let stays = try await driver.follow(room: "demo", participant: nil)
        await driver.close()
        var texts: [String] = []
        for await message in moved.messages { texts.append(String(buffer: try message.encode())) }
        #expect(texts == ["id: 0\nevent: moved\ndata: {}\n\n"])
        for await message in stays.messages { Issue.record("it was told \(message.content)") }
    }

    @Test("more subscribers than the relay has room for get 503 and when to try again")
    func tooMany() async throws {
        openRoom()
        let driver = makeDriver()
        var feeds: [RoomFeed] = []
        for _ in 0..<RoomFeedHub.maximumSubscribers {
            feeds.append(try await driver.follow(room: "demo", participant: nil))
        }
        let response = try await client.respond(driver, .get, "/rooms/demo/events")
        #expect(response.status == .serviceUnavailable)
        #expect(response.headers[.retryAfter] == "30")
        await driver.close()
        withExtendedLifetime(feeds) {}
    }
}
