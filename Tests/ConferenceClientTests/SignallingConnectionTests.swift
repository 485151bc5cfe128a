import NIOCore
import NIOHTTP1
import NIOPosix
import Testing

@testable import ConferenceClient

@Suite("Requests to the relay")
struct SignallingConnectionTests {
    /// Serves an answer to each connection, with its length, at a free port, and hands out the address of a room there.
    private func withServer(
        _ head: String, _ body: ByteBuffer, _ use: (RoomURL) async throws -> Void
    ) async throws {
        try await ScriptedServer.run([.init(head, body)]) { url, _ in try await use(url) }
    }

    @Test("the state of a room of 300 people is read")
    func longAnswer() async throws {
        let size = 300 * 3000
        try await withServer("200 OK", ByteBuffer(repeating: 0x20, count: size)) { url in
            let connection = try await SignallingConnection.connect(
                to: url, on: MultiThreadedEventLoopGroup.singleton.next())
            let response = try await connection.exchange(method: .GET, path: url.path)
            #expect(response.status == 200 && response.body.readableBytes == size)
        }
    }

    @Test("a request about a room goes to the relay of the cluster that has it")
    func redirection() async throws {
        let room = #"{"id":"demo","layout":{"layout":"grid"},"participants":[{"id":"a1","name":"Ada"}]}"#
        try await withServer("200 OK", ByteBuffer(string: room)) { owner in
            try await withServer("307 Temporary Redirect\r\nLocation: \(owner)", ByteBuffer()) { asked in
                let controller = RoomController(url: asked, on: MultiThreadedEventLoopGroup.singleton.next())
                let report = try await controller.report()
                #expect(report.participants.map(\.name) == ["Ada"])
            }
        }
    }

    @Test(
        "a redirect that leads away from the room is an error",
        arguments: ["http://127.0.0.1:1/rooms/other", "https://127.0.0.1/rooms/demo", ""])
    func refusedRedirection(location: String) async throws {
        try await withServer("307 Temporary Redirect\r\nLocation: \(location)", ByteBuffer()) { url in
            let controller = RoomController(url: url, on: MultiThreadedEventLoopGroup.singleton.next())
            let error = await #expect(throws: ClientError.self) { try await controller.report() }
            #expect(error == .relayRefused(url: "\(url)", status: 307, reason: "it does not say why"))
        }
    }
}
