import Cluster
import Foundation
import Logging
import LoopbackServer
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
            secret: ClusterSecret([UInt8](repeating: 7, count: ClusterSecret.size)))
        var made: [String] = []
        for await room in opened.prefix(rooms.count) { made.append(room) }
        #expect(made == rooms)
        await dialer.close()
        await driver.close()
    }
}
