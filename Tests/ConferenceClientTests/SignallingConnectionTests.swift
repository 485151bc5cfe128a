import NIOCore
import NIOHTTP1
import NIOPosix
import Testing

@testable import ConferenceClient

@Suite("Requests to the relay")
struct SignallingConnectionTests {
    /// Answers each request alike.
    private final class Answer: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let answer: ByteBuffer

        init(_ answer: ByteBuffer) {
            self.answer = answer
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            context.writeAndFlush(wrapOutboundOut(answer), promise: nil)
        }
    }

    /// Serves an answer, with its length, at a free port, and hands out the address of a room there.
    private func withServer(
        _ head: String, _ body: ByteBuffer, _ use: (RoomURL) async throws -> Void
    ) async throws {
        var answer = ByteBuffer(string: "HTTP/1.1 \(head)\r\nContent-Length: \(body.readableBytes)\r\n\r\n")
        answer.writeImmutableBuffer(body)
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { [answer] channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Answer(answer))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(server.localAddress?.port)
        try await use(RoomURL("http://127.0.0.1:\(port)/rooms/demo"))
        try await server.close()
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
