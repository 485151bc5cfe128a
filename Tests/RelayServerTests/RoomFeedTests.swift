import Compositing
import MediaCore
import NIOCore
import RoomAPI
import Testing

@testable import Conference
@testable import RelayServer

@Suite("Events of a room for its subscribers")
struct RoomFeedTests {
    private let start = MonotonicInstant.zero + .seconds(100)

    private static func participant(_ id: String) -> ParticipantSummary {
        ParticipantSummary(id: id, name: "Ada", role: .sendAndReceive, microphone: true, camera: true)
    }

    private let room = RoomState(id: "demo", participants: [Self.participant("p1")])

    /// Takes the remaining messages of a feed that has ended.
    private func messages(of feed: RoomFeed) async -> [RoomFeedMessage] {
        var result: [RoomFeedMessage] = []
        for await message in feed.messages { result.append(message) }
        return result
    }

    private func texts(of feed: RoomFeed) async throws -> [String] {
        try await messages(of: feed).map { String(buffer: try $0.encode()) }
    }

    private func follow(
        _ hub: inout RoomFeedHub, _ state: RoomState? = nil, participant: String? = nil
    ) throws -> RoomFeed {
        let state = state ?? room
        return try hub.follow(
            state.id, participant: participant, isHidden: false, state: { state }, now: start, onRelease: { _ in })
    }

    @Test("subscribers of a room get its events in order, and no other room's")
    func rooms() async throws {
        var hub = RoomFeedHub()
        let demo = try follow(&hub)
        let other = try follow(&hub, RoomState(id: "other"))
        hub.publish(RoomEvent(room: "demo", kind: .participantLeft(id: "p1")), now: start)
        hub.publish(RoomEvent(room: "other", kind: .activeSpeakerChanged(id: nil)), now: start)
        hub.publish(RoomEvent(room: "demo", kind: .layoutChanged(.pinned(participant: "p2"))), now: start)
        hub.close()
        #expect(
            try await texts(of: demo) == [
                "id: 1\nevent: participantLeft\ndata: {\"id\":\"p1\"}\n\n",
                "id: 3\nevent: layoutChanged\ndata: {\"layout\":\"pinned\",\"participant\":\"p2\"}\n\n",
            ])
        #expect(
            try await texts(of: other) == ["id: 2\nevent: activeSpeakerChanged\ndata: {\"participant\":null}\n\n"])
    }

    @Test("each kind of event has its name and its data")
    func kinds() throws {
        func text(_ kind: RoomEvent.Kind) throws -> String {
            String(buffer: try RoomFeedMessage(id: 9, content: .change(kind)).encode())
        }
        let summary =
            #"{"accessRole":"presenter","avatar":false,"camera":true,"cameraOff":false,"connection":"new","hand":false,"#
            + #""id":"p1","isSpeaking":false,"microphone":true,"muted":false,"#
            + #""name":"Ada","role":"sendAndReceive","screenShare":false}"#
        #expect(
            try text(.participantJoined(Self.participant("p1")))
                == "id: 9\nevent: participantJoined\ndata: \(summary)\n\n")
        #expect(
            try text(.participantChanged(Self.participant("p1")))
                == "id: 9\nevent: participantChanged\ndata: \(summary)\n\n")
        #expect(
            try text(.activeSpeakerChanged(id: "p1"))
                == "id: 9\nevent: activeSpeakerChanged\ndata: {\"participant\":\"p1\"}\n\n")
        #expect(
            try text(
                .tileChanged(
                    RoomTile(
                        participant: "p1", content: .screenShare, size: VideoDimensions(width: 640, height: 360),
                        bitRate: .kilobits(500))))
                == "id: 9\nevent: tileChanged\ndata: {\"bitRate\":500000,"
                + "\"content\":\"screenShare\",\"height\":360,\"participant\":\"p1\",\"width\":640}\n\n")
        var choosing = Self.participant("p1")
        choosing.layout = ParticipantLayout(.solo(participant: "p2"), hidden: ["p3"], selfView: .always)
        let choice = #""layout":{"hide":["p3"],"layout":"solo","participant":"p2","selfView":"always"}"#
        #expect(try text(.participantChanged(choosing)).contains(choice))
        let overlays = OverlayList([.init(.text("On air"), anchor: .top, height: 0.5)])
        #expect(
            try text(.overlaysChanged(overlays))
                == "id: 9\nevent: overlaysChanged\ndata: "
                + "[{\"anchor\":\"top\",\"height\":0.5,\"text\":\"On air\"}]\n\n")
        #expect(try text(.closed) == "id: 9\nevent: closed\ndata: {}\n\n")
    }

    @Test("a room that closes ends its feeds")
    func closing() async throws {
        var hub = RoomFeedHub()
        let feed = try follow(&hub)
        let other = try follow(&hub, RoomState(id: "other"))
        hub.publish(RoomEvent(room: "demo", kind: .closed), now: start)
        #expect(hub.count == 1)
        #expect(await messages(of: feed).count == 1)
        withExtendedLifetime(other) {}
    }

    @Test("the feed of a subscriber that does not read is overrun when its queue is full; the others lose nothing")
    func slowSubscriber() async throws {
        var hub = RoomFeedHub()
        let slow = try follow(&hub)
        for _ in 0..<RoomFeedHub.queueLength {
            hub.publish(RoomEvent(room: "demo", kind: .layoutChanged(.grid)), now: start)
        }
        #expect(hub.count == 1 && !slow.isOverrun)
        let patient = try follow(&hub)
        hub.publish(RoomEvent(room: "demo", kind: .layoutChanged(.grid)), now: start)
        #expect(hub.count == 1 && hub.overruns == 1)
        #expect(slow.isOverrun && !patient.isOverrun)
        hub.close()
        #expect(await messages(of: slow).count == RoomFeedHub.queueLength)
        #expect(await messages(of: patient).count == 1)
    }

    @Test("the state is read once for all subscribers, and again after an event")
    func sharedState() throws {
        var hub = RoomFeedHub()
        var asked = 0
        func follow() throws -> RoomFeed {
            try hub.follow(
                "demo", participant: nil, isHidden: false,
                state: {
                    asked += 1
                    return room
                }, now: start, onRelease: { _ in })
        }
        let feeds = try (0..<10).map { _ in try follow() }
        #expect(asked == 1)
        hub.publish(RoomEvent(room: "other", kind: .closed), now: start)
        let another = try follow()
        #expect(asked == 1)
        hub.publish(RoomEvent(room: "demo", kind: .layoutChanged(.grid)), now: start)
        let last = try follow()
        #expect(asked == 2)
        withExtendedLifetime((feeds, another, last)) {}
    }

    @Test("an event is encoded once for all subscribers")
    func sharedText() async throws {
        var hub = RoomFeedHub()
        let feeds = try (0..<3).map { _ in try follow(&hub) }
        hub.publish(RoomEvent(room: "demo", kind: .layoutChanged(.speaker)), now: start)
        hub.close()
        var storages: Set<UnsafeRawPointer> = []
        for feed in feeds {
            for message in await messages(of: feed) {
                try message.encode().withUnsafeReadableBytes { bytes in
                    if let base = bytes.baseAddress { storages.insert(base) }
                }
            }
        }
        #expect(storages.count == 1)
    }

    @Test("the number of subscribers is limited, and one that leaves makes room for another")
    func manySubscribers() throws {
        var hub = RoomFeedHub()
        let feeds = try (0..<RoomFeedHub.maximumSubscribers).map { _ in try follow(&hub) }
        #expect(throws: RoomFeedError.tooManySubscribers(limit: RoomFeedHub.maximumSubscribers)) { try follow(&hub) }
        hub.remove(7)
        _ = try follow(&hub)
        withExtendedLifetime(feeds) {}
    }

    @Test("statistics exist only for participants that are there")
    func unknownParticipant() {
        var hub = RoomFeedHub()
        #expect(throws: RoomFeedError.noSuchParticipant) { try follow(&hub, participant: "p9") }
        #expect(hub.count == 0)
    }

    @Test("a feed that nobody holds is released")
    func release() async throws {
        var hub = RoomFeedHub()
        let (released, release) = AsyncStream.makeStream(of: UInt64.self)
        do {
            _ = try hub.follow(
                "demo", participant: nil, isHidden: false, state: { room }, now: start,
                onRelease: { release.yield($0) })
        }
        var iterator = released.makeAsyncIterator()
        #expect(await iterator.next() == 0)
    }

    @Test("statistics come with each tick, with the pictures a second since the tick before")
    func statistics() async throws {
        var hub = RoomFeedHub()
        let feed = try follow(&hub, participant: "p1")
        let other = try follow(&hub)
        var snapshot = RoomSnapshot(id: "demo", participants: [.init(id: "p1", name: "Ada", role: "watch")])
        snapshot.participants[0].downlink.targetBitRate = 900_000
        snapshot.participants[0].roundTripTime = 12.5
        var readings = 0
        for second in 1...3 {
            snapshot.participants[0].downlink.framesEncoded += 24
            hub.tick(now: start + .seconds(second)) { _ in
                readings += 1
                return snapshot
            }
        }
        hub.close()
        let rates = await messages(of: feed).compactMap { message -> ParticipantStatistics? in
            if case .statistics(let statistics) = message.content { statistics } else { nil }
        }
        #expect(rates.map(\.frameRate) == [nil, 24, 24])
        #expect(rates.map(\.targetBitRate) == [900_000, 900_000, 900_000])
        #expect(rates.allSatisfy { $0.participant == "p1" && $0.roundTripTime == 12.5 })
        #expect(readings == 3)
        #expect(await messages(of: other).isEmpty)
    }

    @Test("pictures that the relay leaves out are attributed to the relay, unless the network is the cause")
    func limits() {
        func limit(
            dropped: UInt64, pacerQueue: Int = 0, network: DownlinkLimit? = nil
        ) -> DownlinkLimit? {
            var meter = EncodingMeter()
            var snapshot = ParticipantSnapshot(id: "p1", name: "Ada", role: "watch")
            _ = meter.read(snapshot.downlink, now: start)
            snapshot.downlink.framesEncoded = 20
            snapshot.downlink.framesDropped = dropped
            snapshot.downlink.pacerQueue = pacerQueue
            snapshot.downlink.limit = network
            let progress = meter.read(snapshot.downlink, now: start + .seconds(1))
            return ParticipantStatistics(snapshot, progress: progress).limit
        }
        #expect(limit(dropped: 1) == nil)
        #expect(limit(dropped: 10) == .processing)
        #expect(limit(dropped: 10, pacerQueue: 5000) == nil)
        #expect(limit(dropped: 10, network: .network) == .network)
    }

    @Test("a subscriber without events gets a keep-alive")
    func keepAlive() async throws {
        var hub = RoomFeedHub()
        let feed = try follow(&hub)
        for second in 1...4 { hub.tick(now: start + .seconds(second)) { _ in nil } }
        hub.publish(RoomEvent(room: "demo", kind: .layoutChanged(.grid)), now: start + .seconds(4))
        for second in 5...14 { hub.tick(now: start + .seconds(second)) { _ in nil } }
        hub.close()
        let texts = try await texts(of: feed)
        #expect(texts.map { $0 == ":\n\n" } == [false, true, true])
    }
}

@Suite("Server-sent events as text")
struct ServerSentEventTests {
    @Test("the fields are on lines of their own, and an empty line ends the event")
    func fields() {
        let event = ServerSentEvent(id: 3, name: "x", retry: 2000, data: "{}")
        #expect(String(buffer: event.encode()) == "retry: 2000\nid: 3\nevent: x\ndata: {}\n\n")
        #expect(String(buffer: ServerSentEvent().encode()) == "\n")
    }

    @Test("no line end in the data ends a field", arguments: ["a\nb", "a\r\nb", "a\rb"])
    func lineEnds(data: String) {
        #expect(String(buffer: ServerSentEvent(data: data).encode()) == "data: a\ndata: b\n\n")
    }

    @Test(
        "what ends no line of an event stream stays in the data, which would be no JSON otherwise",
        arguments: ["a\u{2028}b", "a\u{2029}b", "a\u{85}b", "a\u{B}b"])
    func otherSeparators(data: String) {
        #expect(String(buffer: ServerSentEvent(data: data).encode()) == "data: \(data)\n\n")
    }
}
