import NIOCore
import NIOHTTP1
import NIOPosix

/// One HTTP/1.1 exchange with the relay, over a connection of its own.
struct SignallingConnection {
    /// An answer, its body in full.
    struct Response: Sendable {
        var status: Int
        var headers: HTTPHeaders
        var body: ByteBuffer

        /// The body as text.
        var text: String { String(buffer: body) }
    }

    /// An answer with a larger body is refused. A room's state has about 3 kB for each participant.
    static let maximumBodySize = 4 << 20
    static let connectTimeout = TimeAmount.seconds(5)
    static let answerTimeout = TimeAmount.seconds(10)

    private let url: RoomURL
    private let channel: any Channel
    private let answer: EventLoopFuture<Response>

    /// Connects.
    ///
    /// - Throws: `ClientError.relayUnreachable`.
    static func connect(to url: RoomURL, on eventLoop: any EventLoop) async throws -> SignallingConnection {
        let promise = eventLoop.makePromise(of: Response.self)
        do {
            let channel = try await ClientBootstrap(group: eventLoop)
                .connectTimeout(connectTimeout)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHTTPClientHandlers()
                        try channel.pipeline.syncOperations.addHandler(HTTPAnswerHandler(promise: promise))
                    }
                }
                .connect(host: url.host, port: url.port).get()
            return SignallingConnection(url: url, channel: channel, answer: promise.futureResult)
        } catch {
            promise.fail(error)
            throw ClientError.relayUnreachable(url: "\(url)", reason: Self.reason(error))
        }
    }

    var eventLoop: any EventLoop { channel.eventLoop }
    /// This end's address: the one that reaches the relay.
    var localAddress: SocketAddress? { channel.localAddress }

    /// Sends the request, waits for the answer and closes the connection.
    ///
    /// - Throws: `ClientError.relayUnreachable` when no whole answer comes in time.
    func exchange(
        method: HTTPMethod, path: String, contentType: String? = nil, body: String = "", pin: String? = nil
    ) async throws -> Response {
        var head = HTTPRequestHead(version: .http1_1, method: method, uri: path)
        head.headers.add(name: "Host", value: url.authority)
        head.headers.add(name: "User-Agent", value: "confclient")
        head.headers.add(name: "Connection", value: "close")
        if let token = url.token { head.headers.add(name: "Authorization", value: "Bearer \(token)") }
        if let pin { head.headers.add(name: "Room-PIN", value: pin) }
        if let key = url.moderatorKey { head.headers.add(name: "Moderator-Key", value: key) }
        if let contentType { head.headers.add(name: "Content-Type", value: contentType) }
        let buffer = ByteBuffer(string: body)
        head.headers.add(name: "Content-Length", value: String(buffer.readableBytes))
        let channel = channel
        let timeout = channel.eventLoop.scheduleTask(in: Self.answerTimeout) {
            channel.pipeline.fireErrorCaught(ChannelError.connectTimeout(Self.answerTimeout))
        }
        defer {
            timeout.cancel()
            channel.close(promise: nil)
        }
        do {
            channel.write(HTTPClientRequestPart.head(head), promise: nil)
            if buffer.readableBytes > 0 {
                channel.write(HTTPClientRequestPart.body(.byteBuffer(buffer)), promise: nil)
            }
            try await channel.writeAndFlush(HTTPClientRequestPart.end(nil))
            return try await answer.get()
        } catch {
            throw ClientError.relayUnreachable(url: "\(url)", reason: Self.reason(error))
        }
    }

    /// Ends a participant. The relay may be gone, and then there is nothing to end.
    static func endParticipant(_ path: String, at url: RoomURL, on eventLoop: any EventLoop) async {
        guard let connection = try? await connect(to: url, on: eventLoop) else { return }
        _ = try? await connection.exchange(method: .DELETE, path: path)
    }

    /// Closes a connection that is not going to be used.
    func close() { channel.close(promise: nil) }

    private static func reason(_ error: any Error) -> String {
        switch error {
        case let error as NIOConnectionError:
            if error.dnsAError != nil, error.connectionErrors.isEmpty { return "its name \(error.host) is unknown" }
            return error.connectionErrors.first.map { Self.reason($0.error) } ?? "\(error)"
        case let error as IOError where error.errnoCode == 111: return "connection refused; is the relay running?"
        case ChannelError.connectTimeout: return "no answer in time"
        case let error as IOError: return error.description
        case let error as HTTPAnswerError: return error.description
        default: return "\(error)"
        }
    }
}

/// The reason for which an answer could not be used.
enum HTTPAnswerError: Error, CustomStringConvertible {
    case tooLarge, cutShort

    var description: String {
        switch self {
        case .tooLarge: "its answer is too large"
        case .cutShort: "it closed the connection without an answer"
        }
    }
}

private final class HTTPAnswerHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    private let promise: EventLoopPromise<SignallingConnection.Response>
    private var response: SignallingConnection.Response?
    private var isDone = false

    init(promise: EventLoopPromise<SignallingConnection.Response>) {
        self.promise = promise
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            // Interim answers (1xx) are followed by the final one.
            guard head.status.code >= 200 else { return }
            response = .init(status: Int(head.status.code), headers: head.headers, body: ByteBuffer())
        case .body(var part):
            response?.body.writeBuffer(&part)
            if let response, response.body.readableBytes > SignallingConnection.maximumBodySize {
                finish(.failure(HTTPAnswerError.tooLarge))
            }
        case .end:
            if let response { finish(.success(response)) }
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        finish(.failure(HTTPAnswerError.cutShort))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        finish(.failure(error))
        context.close(promise: nil)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        finish(.failure(HTTPAnswerError.cutShort))
    }

    private func finish(_ result: Result<SignallingConnection.Response, any Error>) {
        guard !isDone else { return }
        isDone = true
        promise.completeWith(result)
    }
}
