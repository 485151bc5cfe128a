import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import ConferenceClient

/// A relay that answers each connection as a test says, the last answer again and again.
final class ScriptedServer: Sendable {
    /// An answer with its length.
    struct Answer: Sendable {
        /// Nil: the connection is closed without one.
        let bytes: ByteBuffer?

        init(_ head: String, _ body: ByteBuffer = ByteBuffer()) {
            var bytes = ByteBuffer(
                string: "HTTP/1.1 \(head)\r\nConnection: close\r\nContent-Length: \(body.readableBytes)\r\n\r\n")
            bytes.writeImmutableBuffer(body)
            self.bytes = bytes
        }

        private init() {
            bytes = nil
        }

        static let closed = Answer()
    }

    private let answers: Mutex<[Answer]>
    private let lines = Mutex<[String]>([])

    private init(_ answers: [Answer]) {
        self.answers = Mutex(answers)
    }

    /// The first line of each request, without its version.
    var requests: [String] { lines.withLock { $0 } }

    /// Serves at a free port, and hands out the address of a room there.
    static func run(
        _ answers: [Answer], _ use: (RoomURL, ScriptedServer) async throws -> Void
    ) async throws {
        let script = ScriptedServer(answers)
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Handler(script))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(server.localAddress?.port)
        try await use(RoomURL("http://127.0.0.1:\(port)/rooms/demo"), script)
        try await server.close()
    }

    private func answer(_ request: ByteBuffer) -> Answer {
        let line = String(buffer: request).prefix { $0 != "\r\n" }.split(separator: " ").prefix(2)
        lines.withLock { $0.append(line.joined(separator: " ")) }
        return answers.withLock { $0.count > 1 ? $0.removeFirst() : $0.first ?? .closed }
    }

    /// Answers the first bytes of a connection.
    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let script: ScriptedServer
        private var hasAnswered = false

        init(_ script: ScriptedServer) {
            self.script = script
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard !hasAnswered else { return }
            hasAnswered = true
            if let bytes = script.answer(unwrapInboundIn(data)).bytes {
                context.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
            } else {
                context.close(promise: nil)
            }
        }
    }
}
