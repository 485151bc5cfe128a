import Cluster
import Compositing
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import LoopbackServer
import NIOCore
import NIOPosix
import RoomAPI
import SecureTransport
import Synchronization
import Testing

@testable import Conference
@testable import RelayServer

@Suite("A relay's part in its cluster")
struct ClusterServiceTests {
    @Test("makes a link to a relay as soon as that has people of a room", .timeLimit(.minutes(1)))
    func linkAtOnce() async throws {
        let offer = CascadeOffer(
            link: "l", usernameFragment: "ufrag", password: "password", fingerprint: "f", reporter: 1, addresses: [])
        let answer = String(decoding: try JSONEncoder().encode(offer), as: UTF8.self)
        let server = try LoopbackServer { connection in
            while connection.readRequest() != nil { connection.answer(201, answer) }
        }
        let (opened, openings) = AsyncStream.makeStream(of: String.self)
        let client = SignallingClient()
        client.script.state.withLock {
            $0.occupancy.rooms = ["demo": RelayOccupancy.RoomSettings()]
            $0.linkOffer = offer
            $0.onLink = { openings.yield($0) }
        }
        let (changes, continuation) = AsyncStream.makeStream(of: [DirectoryChange].self)
        let driver = client.makeDriver()
        let service = try await ClusterService.start(
            try FixedDirectory.ofOther(owning: "demo", at: "http://127.0.0.1:\(server.port)", changes: changes), driver,
            name: "c")
        await service.readOccupancy()
        continuation.yield([.put(try FixedDirectory.listing())])
        var iterator = opened.makeAsyncIterator()
        #expect(await iterator.next() == "demo")
        await service.close()
        await driver.close()
    }

    @Test("is told at the start if the directory does not answer", arguments: [true, false])
    func absentDirectory(isAway: Bool) async throws {
        let log = LogLines()
        let driver = SignallingClient().makeDriver()
        let service = try await ClusterService.start(
            FixedDirectory(isAway: isAway), driver, log: log, patience: isAway ? .zero : .seconds(60))
        #expect(log.texts.withLock { $0 }.contains { $0.hasPrefix("warning: the cluster's directory") } == isAway)
        await service.close()
        await driver.close()
    }

    @Test("names other relays to try to who comes back, too, and makes them no moderator of a room that others have")
    func comingBack() async throws {
        var client = SignallingClient()
        client.script.state.withLock { $0.occupancy.rooms = ["demo": RelayOccupancy.RoomSettings()] }
        let driver = client.makeDriver()
        let service = try await ClusterService.start(try FixedDirectory.ofOther(), driver)
        client.cluster = service
        for query in ["", "?resume=\(SignallingClient.session("p1"))"] {
            let answer = try await client.answer(
                driver, .post, "/rooms/demo/participants\(query)", headers: [.contentType: "application/sdp"],
                body: "v=0\r\n")
            #expect(answer.status == .created)
            let links = answer.headers[values: .link]
            #expect(links == ["<http://b.example/rooms/demo/participants>; rel=\"alternate\""], "\(query)")
        }
        #expect(client.script.state.withLock { $0.requests.last?.newModeratorKey } == nil)
        await service.close()
        await driver.close()
    }

    @Test("takes back who left a moment ago although only another relay has the room by now, and sends others there")
    func comingBackAlone() async throws {
        var client = SignallingClient()
        let driver = client.makeDriver()
        let service = try await ClusterService.start(try FixedDirectory.ofOther(), driver)
        client.cluster = service
        for (participant, status) in [("p2", HTTPResponse.Status.temporaryRedirect), ("p1", .created)] {
            let answer = try await client.answer(
                driver, .post, "/rooms/demo/participants?resume=\(SignallingClient.session(participant))",
                headers: [.contentType: "application/sdp"], body: "v=0\r\n")
            #expect(answer.status == status, "\(participant)")
        }
        let request = try #require(client.script.state.withLock { $0.requests.last })
        #expect(request.returningAs == "p1" && request.newModeratorKey == nil)
        await service.close()
        await driver.close()
    }

    @Test("sends no join on whose keys crossed the network in the clear")
    func keysInTheClear() async throws {
        var client = SignallingClient()
        let driver = client.makeDriver()
        let service = try await ClusterService.start(try FixedDirectory.ofOther(), driver)
        client.cluster = service
        for (host, status) in [
            (0x7F00_0001 as UInt32, HTTPResponse.Status.temporaryRedirect), (0xC000_0263, .forbidden),
        ] {
            let answer = try await client.answer(
                driver, .post, "/rooms/demo/participants", headers: [.contentType: "application/sdp"],
                body: "v=0\r\nm=audio 9 RTP/SAVP 96\r\na=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:x\r\n",
                from: TransportAddress(ipv4: host, port: 1))
            #expect(answer.status == status)
        }
        await service.close()
        await driver.close()
    }

    @Test("brings a join on to relays of the cluster, and to no other server that one of them names")
    func broughtJoin() async throws {
        let asked = Atomic(0)
        let last = try LoopbackServer { connection in
            while connection.readRequest() != nil {
                asked.add(1, ordering: .relaxed)
                connection.answer(201, "v=0")
            }
        }
        let next = "http://127.0.0.1:\(last.port)"
        let first = try LoopbackServer { connection in
            while let request = connection.readRequest() {
                connection.answer(307, fields: "Location: \(next)\(request.path)\r\n")
            }
        }
        let url = "http://127.0.0.1:\(first.port)"
        let proxy = JoinProxy()
        let path = "/rooms/demo/participants"
        let request = Request(
            head: HTTPRequest(method: .post, scheme: "http", authority: "relay", path: path),
            body: RequestBody(buffer: ByteBuffer()))
        let refusal = await #expect(throws: Problem.self) {
            try await proxy.send(request, offer: "v=0", to: "\(url)\(path)", among: [url])
        }
        #expect(refusal?.status == .serviceUnavailable && asked.load(ordering: .relaxed) == 0)
        let answer = try await proxy.send(request, offer: "v=0", to: "\(url)\(path)", among: [url, next])
        #expect(answer.status == .created && asked.load(ordering: .relaxed) == 1)
        await proxy.close()
    }

    @Test("gives a room its overlays at once, and once, and its layout when the participant that it names is there")
    func laterLayout() async throws {
        let overlays = OverlayList([.init(.text("On air"), anchor: .top, height: 0.5)])
        let former = RelayOccupancy.RoomSettings(
            layout: RoomLayout(.pinned(participant: "p2")), overlays: overlays)
        let entry = DirectoryEntry(
            path: DirectoryKey.settings(room: "demo").path, value: former.directoryValue, createRevision: 1)
        var client = SignallingClient()
        client.script.state.withLock { $0.snapshot.rooms = [RoomSnapshot(id: "demo")] }
        let driver = client.makeDriver()
        let service = try await ClusterService.start(FixedDirectory(settings: [entry]), driver)
        client.cluster = service
        let answer = try await client.answer(
            driver, .post, "/rooms/demo/participants", headers: [.contentType: "application/sdp"], body: "v=0\r\n")
        #expect(answer.status == .created)
        client.script.state.withLock {
            #expect($0.overlays == [overlays] && $0.roomLayouts.isEmpty)
            $0.occupancy.rooms = ["demo": RelayOccupancy.RoomSettings(overlays: overlays)]
        }
        await service.tick()
        client.script.state.withLock {
            #expect($0.roomLayouts.isEmpty)
            $0.participants.insert("p2")
        }
        await service.tick()
        client.script.state.withLock { #expect($0.overlays == [overlays] && $0.roomLayouts == [former.layout]) }
        await service.close()
        await driver.close()
    }

    @Test("keeps the conditions of a room in the directory")
    func conditions() throws {
        let conditions = EntryConditions(
            isLocked: true, hasLobby: true, pin: [1], moderatorKey: [2], roomBegan: 3, removed: ["ben"], left: ["cy"])
        let settings = RelayOccupancy.RoomSettings(conditions: conditions)
        #expect(RelayOccupancy.RoomSettings(directory: settings.directoryValue) == settings)
    }

    @Test("keeps whom a room hides, and its conditions, although a later version has given it another layout")
    func unknownLayout() throws {
        let conditions = EntryConditions(isLocked: true, pin: [1], removed: ["ben"])
        let picture = #""layout":{"layout":"wall","hide":["eve"]},"overlays":[{"hologram":1}]"#
        let written = "{\(picture),\(#""locked":true,"pin":"AQ==","removed":["ben"]"#)}"
        #expect(
            RelayOccupancy.RoomSettings(directory: Array(written.utf8))
                == RelayOccupancy.RoomSettings(layout: RoomLayout(.grid, hidden: ["eve"]), conditions: conditions))
    }

    @Test("announces where the relay is when its address changes, unless its operator has said where")
    func changedAddress() async throws {
        let driver = SignallingClient().makeDriver()
        for given in [nil, "http://relay.example"] {
            let service = try await ClusterService.start(FixedDirectory(), driver, advertising: given)
            await service.ownURLChanged(to: "http://192.0.2.1:7000")
            #expect(await service.ownURL == given ?? "http://192.0.2.1:7000")
            await service.close()
        }
        await driver.close()
    }

    @Test("tells nothing of a relay that has ended: the settings of its rooms are for those to which people go")
    func ended() async throws {
        let client = SignallingClient()
        client.script.state.withLock { $0.occupancy.rooms = ["demo": RelayOccupancy.RoomSettings()] }
        let driver = client.makeDriver()
        let service = try await ClusterService.start(FixedDirectory(), driver)
        await service.readOccupancy()
        #expect(await service.presentRooms == ["demo"])
        await driver.stop()
        client.script.state.withLock { $0.occupancy.rooms = [:] }
        await service.readOccupancy()
        #expect(await service.presentRooms == ["demo"])
        await service.close()
        await driver.close()
    }

    @Test("with tokens tells nobody without one whether another relay has a room, and where")
    func strangers() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "confrelay-keys-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(AccessKeys.newFile(.hs256, id: "main").utf8).write(to: file)
        let keys = try KeyStore(file: file.path, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        var claims = AccessClaims(room: "demo", role: .moderator)
        claims.expiry = 1_700_000_060
        let token = try await keys.current.sign(claims)
        var client = SignallingClient()
        client.keys = keys
        let driver = client.makeDriver()
        let service = try await ClusterService.start(try FixedDirectory.ofOther(owning: "demo"), driver)
        client.cluster = service
        let requests: [(HTTPRequest.Method, String, HTTPResponse.Status)] = [
            (.get, "/rooms/demo/events", .unauthorized), (.put, "/rooms/demo/layout", .unauthorized),
            (.delete, "/whip/demo/p1.key", .forbidden),
        ]
        for (method, path, refusal) in requests {
            let strange = try await client.answer(driver, method, path)
            #expect(strange.status == refusal && strange.headers[.location] == nil, "\(path)")
            let wrong = try await client.answer(
                driver, method, path, headers: [.authorization: "Bearer \(token.dropLast())"])
            #expect(wrong.status == refusal && wrong.headers[.location] == nil, "\(path)")
            let known = try await client.answer(driver, method, path, headers: [.authorization: "Bearer \(token)"])
            #expect(known.status == .temporaryRedirect, "\(path)")
            #expect(known.headers[.location] == "http://b.example\(path)", "\(path)")
        }
        // Only the relay of a session can check its key.
        let away = try await client.answer(
            driver, .get, "/rooms/demo/events",
            headers: [.authorization: "Bearer p1.\(String(repeating: "0", count: 20))"])
        #expect(away.status == .unauthorized && away.headers[.location] == nil)
        #expect(away.detail.contains("at the relay of your join's Location"))
        await service.close()
        await driver.close()
    }

    @Test("gives its lease back although the stop that ends it takes too long and is cancelled")
    func cancelledStop() async throws {
        let driver = RelayDriver(eventLoop: MultiThreadedEventLoopGroup.singleton.next(), workerCount: 1) {
            TwinRelay(TwinRelay.Script())
        }
        let directory = FixedDirectory()
        let service = try await ClusterService.start(directory, driver)
        let stop = Task {
            // Until it is cancelled.
            try? await Task.sleep(for: .seconds(3600))
            await service.close()
        }
        stop.cancel()
        await stop.value
        #expect(directory.endedLeases == [false])
        await driver.close()
    }
}

extension ClusterService {
    fileprivate var ownURL: String { directory.record.url }
    fileprivate var presentRooms: [String] { directory.presentRooms }
}
