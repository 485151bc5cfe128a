import Cluster
import Foundation
import Logging
import LoopbackServer
import MediaCore
import NIOPosix
import Synchronization
import Testing

@testable import Conference
@testable import RelayServer

@Suite("Links that a relay makes to others")
struct CascadeDialerTests {
    @Test(
        "are made to one relay one after the other, each as soon as that before it has connected",
        .timeLimit(.minutes(1)))
    func inTurn() async throws {
        let offer = CascadeOffer(
            link: "l", usernameFragment: "ufrag", password: String(repeating: "p", count: 22), fingerprint: "f",
            reporter: 1, addresses: [])
        let answer = String(decoding: try JSONEncoder().encode(offer), as: UTF8.self)
        let server = try LoopbackServer { connection in
            while connection.readRequest() != nil { connection.answer(201, answer) }
        }
        let (opened, continuation) = AsyncStream.makeStream(of: String.self)
        let script = TwinRelay.Script()
        script.state.withLock {
            $0.linkOffer = offer
            $0.onLink = { continuation.yield($0) }
        }
        let driver = RelayDriver(eventLoop: MultiThreadedEventLoopGroup.singleton.next(), workerCount: 1) {
            TwinRelay(script)
        }
        let (node, other) = (try #require(NodeID(rawValue: "b")), try #require(NodeID(rawValue: "a")))
        let dialer = CascadeDialer(
            node: node, driver: driver, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let rooms = ["one", "three", "two"]
        let url = "http://127.0.0.1:\(server.port)"
        dialer.arrange(
            rooms.map { CascadeDialer.Peer(room: $0, node: other, url: url, epoch: 1) }, leading: [:],
            secret: ClusterSecret(FixedDirectory.secret), among: [other])
        var made: [String] = []
        for await room in opened.prefix(rooms.count) { made.append(room) }
        #expect(made == rooms)
        await dialer.close()
        await driver.close()
    }

    @Test(
        "stay while the directory does not have the other relay, and a while longer without the room",
        .timeLimit(.minutes(1)))
    func unlisted() async throws {
        let clock = Mutex(MonotonicInstant.zero)
        let (asked, ask) = AsyncStream.makeStream(of: Void.self)
        let (ended, end) = AsyncStream.makeStream(of: MonotonicInstant.self)
        let script = TwinRelay.Script()
        script.state.withLock {
            $0.links = [
                CascadeLinkSnapshot(
                    room: "demo", node: "a", isConnected: true, members: 1, streamsOut: 0, streamsIn: 0,
                    sendBitRate: 0, receiveBitRate: 0, targetBitRate: 0)
            ]
            $0.onLinkSnapshots = { ask.yield() }
            $0.onLinkEnd = { end.yield(clock.withLock { $0 }) }
        }
        let driver = RelayDriver(eventLoop: MultiThreadedEventLoopGroup.singleton.next(), workerCount: 1) {
            TwinRelay(script)
        }
        let (node, other) = (try #require(NodeID(rawValue: "b")), try #require(NodeID(rawValue: "a")))
        let dialer = CascadeDialer(
            node: node, driver: driver, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            now: { clock.withLock { $0 } })
        let peer = CascadeDialer.Peer(room: "demo", node: other, url: "http://127.0.0.1:1", epoch: 1)
        var answers = asked.makeAsyncIterator()
        for (second, peers, relays) in [
            (0, [peer], [other]), (1, [], []), (3600, [], []), (3601, [], [other]), (3610, [], [other]),
            (3611, [], [other]),
        ] as [(Int, [CascadeDialer.Peer], Set<NodeID>)] {
            clock.withLock { $0 = .zero + .seconds(second) }
            // When the links are looked at once more, the first arrangement is made.
            for _ in 0..<2 {
                dialer.arrange(peers, leading: [:], secret: ClusterSecret(FixedDirectory.secret), among: relays)
                _ = await answers.next()
            }
        }
        var ends = ended.makeAsyncIterator()
        #expect(await ends.next() == .zero + .seconds(3611))
        await dialer.close()
        await driver.close()
    }
}
