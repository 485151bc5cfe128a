import NIOCore
import NIOHTTP1
import NIOPosix
import Testing

@testable import ConferenceClient

@Suite("Requests to the relay")
struct SignallingConnectionTests {
    /// Answers a request with so many bytes.
    private final class Answer: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let size: Int

        init(size: Int) {
            self.size = size
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            var answer = ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
            answer.writeRepeatingByte(0x20, count: size)
            context.writeAndFlush(wrapOutboundOut(answer), promise: nil)
        }
    }

    @Test("the state of a room of 300 people is read")
    func longAnswer() async throws {
        let size = 300 * 3000
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Answer(size: size))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(server.localAddress?.port)
        let url = try RoomURL("http://127.0.0.1:\(port)/rooms/demo")
        let connection = try await SignallingConnection.connect(
            to: url, on: MultiThreadedEventLoopGroup.singleton.next())
        let response = try await connection.exchange(method: .GET, path: url.path)
        #expect(response.status == 200 && response.body.readableBytes == size)
        try await server.close()
    }
}
