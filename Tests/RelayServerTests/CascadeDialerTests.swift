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

    /// A dialer of the relay `b`, which has a link to the relay `a`, with a clock that the test sets.
    private final class Linked {
        let other: NodeID
        let peer: CascadeDialer.Peer
        let dialer: CascadeDialer
        let clock: Clock
        private let script = TwinRelay.Script()
        private let driver: RelayDriver
        private var looks: AsyncStream<Void>.Iterator
        private var ends: AsyncStream<MonotonicInstant>.Iterator

        final class Clock: Sendable {
            private let time = Mutex(MonotonicInstant.zero)

            var now: MonotonicInstant { time.withLock { $0 } }

            func set(_ seconds: Int) { time.withLock { $0 = .zero + .seconds(seconds) } }
        }

        init(signsHeads: Bool = true) throws {
            let node = try #require(NodeID(rawValue: "b"))
            other = try #require(NodeID(rawValue: "a"))
            peer = CascadeDialer.Peer(
                room: "demo", node: other, url: "http://127.0.0.1:1", epoch: 1, signsHeads: signsHeads)
            let clock = Clock()
            self.clock = clock
            let (looks, look) = AsyncStream.makeStream(of: Void.self)
            let (ends, end) = AsyncStream.makeStream(of: MonotonicInstant.self)
            (self.looks, self.ends) = (looks.makeAsyncIterator(), ends.makeAsyncIterator())
            script.state.withLock {
                $0.links = [
                    CascadeLinkSnapshot(
                        room: "demo", node: "a", isConnected: true, members: 1, streamsOut: 0, streamsIn: 0,
                        sendBitRate: 0, receiveBitRate: 0, targetBitRate: 0)
                ]
                $0.onLinkSnapshots = { look.yield() }
                $0.onLinkEnd = { end.yield(clock.now) }
            }
            driver = RelayDriver(eventLoop: MultiThreadedEventLoopGroup.singleton.next(), workerCount: 1) { [script] in
                TwinRelay(script)
            }
            dialer = CascadeDialer(
                node: node, driver: driver, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
                now: { clock.now })
        }

        func arrange(_ peers: [CascadeDialer.Peer], among relays: Set<NodeID>) async {
            // When the links are looked at once more, the first arrangement is made.
            for _ in 0..<2 {
                dialer.arrange(peers, leading: [:], secret: ClusterSecret(FixedDirectory.secret), among: relays)
                var looks = looks
                _ = await looks.next()
                self.looks = looks
            }
        }

        /// When the link was ended next.
        func nextEnd() async -> MonotonicInstant? {
            var ends = ends
            defer { self.ends = ends }
            return await ends.next()
        }

        /// The link has been lost.
        func loseLink() { script.state.withLock { $0.links = [] } }

        func close() async {
            await dialer.close()
            await driver.close()
        }
    }

    @Test(
        "stay while the directory does not have the other relay, and a while longer without the room",
        .timeLimit(.minutes(1)))
    func unlisted() async throws {
        let linked = try Linked()
        for (second, peers, relays) in [
            (0, [linked.peer], [linked.other]), (1, [], []), (3600, [], []), (3601, [], [linked.other]),
            (3610, [], [linked.other]), (3611, [], [linked.other]),
        ] as [(Int, [CascadeDialer.Peer], Set<NodeID>)] {
            linked.clock.set(second)
            await linked.arrange(peers, among: relays)
        }
        #expect(await linked.nextEnd() == .zero + .seconds(3611))
        await linked.close()
    }

    @Test(
        "leave the places of a room to the relays that the directory names for it", .timeLimit(.minutes(1)),
        arguments: [6, 7])
    func places(named: Int) async throws {
        let linked = try Linked()
        await linked.arrange([linked.peer], among: [linked.other])
        let others = try (0..<named).map { index in
            // Greater than the relay's own: the others make the links.
            CascadeDialer.Peer(
                room: "demo", node: try #require(NodeID(rawValue: "c\(index)")), url: "http://127.0.0.1:1", epoch: 1)
        }
        linked.clock.set(1)
        await linked.arrange(others, among: Set(others.map(\.node)))
        linked.clock.set(2)
        await linked.arrange([], among: [linked.other])
        linked.clock.set(30)
        await linked.arrange([], among: [linked.other])
        #expect(await linked.nextEnd() == .zero + .seconds(named == 7 ? 1 : 30))
        await linked.close()
    }

    @Test("show what version a relay is that the directory lacks, for as long as they live", .timeLimit(.minutes(1)))
    func version() async throws {
        for signsHeads in [true, false] {
            let linked = try Linked(signsHeads: signsHeads)
            #expect(await linked.dialer.allSignHeads)
            await linked.arrange([linked.peer], among: [linked.other])
            #expect(await linked.dialer.allSignHeads == signsHeads)
            await linked.arrange([], among: [])
            #expect(await linked.dialer.allSignHeads == signsHeads)
            linked.loseLink()
            await linked.arrange([], among: [])
            #expect(await linked.dialer.allSignHeads)
            await linked.close()
        }
    }
}
