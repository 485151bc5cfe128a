import LoopbackServer
import MediaCore
import NIOPosix
import SDP
import SecureTransport
import Synchronization
import Testing

@testable import ConferenceClient

@Suite("Clients of a load run")
struct LoadClientTests {
    /// A relay of a cluster that takes a client and tells it of another relay. No media come from it.
    private final class Relay: Sendable {
        let server: LoopbackServer
        /// The first line of each request, without the version.
        let requests: Requests
        /// A client follows the room's events.
        let followers: AsyncStream<Void>

        final class Requests: Sendable {
            private let lines = Mutex<[String]>([])

            var all: [String] { lines.withLock { $0 } }

            func append(_ line: String) { lines.withLock { $0.append(line) } }
        }

        static let location = "/rooms/demo/participants/5f2c9a1e.0b9ef49f9f2cef774797"

        /// - Parameters:
        ///   - other: The port of the other relay.
        ///   - asksToMove: Whether the client is told to go there.
        init(other: Int, asksToMove: Bool) throws {
            let requests = Requests()
            let (followers, continuation) = AsyncStream.makeStream(of: Void.self)
            self.requests = requests
            self.followers = followers
            server = try LoopbackServer { connection in
                guard let request = connection.readRequest() else { return }
                requests.append(request.head.split(separator: " ").prefix(2).joined(separator: " "))
                if request.head.hasPrefix("POST "), let answer = Self.answer(to: request.body) {
                    let link = "Link: <http://127.0.0.1:\(other)/rooms/demo/participants>; rel=\"alternate\"\r\n"
                    connection.answer(201, answer, fields: "Location: \(Self.location)\r\nRejoin-Key: a.b\r\n\(link)")
                } else if request.path.hasSuffix("/events") {
                    connection.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
                    if asksToMove { connection.send("event: moved\ndata: {}\n\n") }
                    continuation.yield()
                    connection.waitForEnd()
                } else {
                    connection.answer()
                }
            }
        }

        private static func answer(to offer: String) -> String? {
            guard let address = TransportAddress(host: "127.0.0.1", port: 9),
                let offer = try? SessionDescription(parsing: offer)
            else { return nil }
            var generator = SeededGenerator(seed: 5)
            let policy = AnswerPolicy(publicAddress: address)
            return try? OfferAnswer.answer(offer: offer, policy: policy, using: &generator).answer.encode()
        }
    }

    @Test("a client that is between two relays at the end leaves both before the run ends")
    func leavesBoth() async throws {
        let second = try Relay(other: 9, asksToMove: false)
        let first = try Relay(other: second.server.port, asksToMove: true)
        var options = JoinOptions(url: try RoomURL("http://127.0.0.1:\(first.server.port)/rooms/demo"), name: "Load")
        options.transport = .sdes
        options.decodesVideo = false
        let client = try await LoadClient(options, on: MultiThreadedEventLoopGroup.singleton.next()) { MediaSources() }
        let following = Task { await client.follow() }
        // Until pictures come from the second relay, which never do, the client is at both.
        _ = await second.followers.first { _ in true }
        let result = try await client.leave(end: "duration")
        #expect(first.requests.all.contains("DELETE \(Relay.location)"))
        #expect(second.requests.all.contains("DELETE \(Relay.location)"))
        #expect(result.reports.map(\.end) == ["moved", "duration"])
        #expect(await following.value == .left)
        withExtendedLifetime((first, second)) {}
    }
}
