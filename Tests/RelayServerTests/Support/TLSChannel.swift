import NIOCore
import NIOEmbedded
import OpenSSLClient
import SecureTransport

@testable import RelayServer

/// A connection that is served with TLS, and its client.
final class TLSChannel {
    let channel: EmbeddedChannel
    let client: BareTLSClient
    let socket = Socket()
    let program = Program()
    /// What the server said.
    private(set) var response: [UInt8] = []

    /// - Parameter last: A handler behind that of the program.
    init(
        _ options: BareTLSClient.Options = BareTLSClient.Options(), last: (any ChannelHandler)? = nil
    ) throws {
        let handler = TLSServerHandler(try TLSServerConnection(context: BareCertificate().makeServerContext()))
        channel = EmbeddedChannel(handlers: [socket, handler, program] + (last.map { [$0] } ?? []))
        channel.allowRemoteHalfClosure = true
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        client = try BareTLSClient(options)
    }

    /// Hands everything over, both ways, until nothing is left to say.
    func run() throws {
        if !client.isEstablished { client.advance() }
        for _ in 0..<10 {
            try deliver(client.takeOutgoing())
            for bytes in socket.takeSent() { response += client.receive(bytes) }
        }
    }

    /// The handshake, without which nothing goes on.
    func establish() throws -> TLSChannel {
        try run()
        _ = try BareCertificate.require(client.isEstablished ? true : nil, "handshake")
        return self
    }

    /// Hands bytes to the server, as if from a socket.
    func deliver(_ bytes: ByteBuffer) throws {
        guard bytes.readableBytes > 0 else { return }
        channel.pipeline.fireChannelRead(bytes)
        channel.pipeline.fireChannelReadComplete()
    }

    /// Writes without a flush.
    func write(_ text: String) -> EventLoopFuture<Void> {
        let promise = channel.eventLoop.makePromise(of: Void.self)
        channel.write(ByteBuffer(string: text), promise: promise)
        return promise.futureResult
    }

    /// The socket's side of the pipeline.
    final class Socket: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer

        /// True if it takes nothing for now.
        var isFull = false
        private(set) var closes: [CloseMode] = []
        private var sent: [ByteBuffer] = []
        private var waiting: [EventLoopPromise<Void>] = []

        func takeSent() -> [ByteBuffer] {
            defer { sent = [] }
            return sent
        }

        /// Takes everything that waits.
        func drain() {
            let promises = waiting
            waiting = []
            for promise in promises { promise.succeed() }
        }

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            sent.append(unwrapOutboundIn(data))
            if isFull { promise.map { waiting.append($0) } } else { promise?.succeed() }
        }

        func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
            closes.append(mode)
            if mode == .all { context.close(promise: promise) } else { promise?.succeed() }
        }
    }

    /// The program's side of the pipeline.
    final class Program: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private(set) var request = ""
        private(set) var errors: [TLSError] = []
        private(set) var hasSeenEnd = false
        /// Done with each part of a request.
        var onRead: ((ChannelHandlerContext) -> Void)?

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            request += String(buffer: unwrapInboundIn(data))
            onRead?(context)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            if let error = error as? TLSError { errors.append(error) }
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if case .inputClosed? = event as? ChannelEvent { hasSeenEnd = true }
        }
    }
}
