import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Serves a connection from the reserve: it answers one health check, or refuses one other request with 503, and
/// closes.
///
/// The whole connection has a deadline, because there are few of them.
final class ReservedConnectionHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private enum State {
        case waiting
        /// A health check is being answered.
        case answering
        /// The answer, or the refusal, is written; further data is dropped.
        case done
    }

    /// The answer to other requests.
    private static let refusal = Problem(
        .serviceUnavailable,
        "the relay has no free connection for this address: close some, or try again later. Behind a reverse proxy "
            + "start the relay with --trusted-proxy and the proxy's address",
        headers: [.retryAfter: "10"])

    private let timeout: TimeAmount
    private var state = State.waiting
    private var deadline: Scheduled<Void>?

    /// - Parameter timeout: The longest time of the connection.
    init(timeout: TimeAmount) {
        self.timeout = timeout
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        deadline = context.eventLoop.scheduleTask(in: timeout) { channel.close(promise: nil) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        deadline?.cancel()
    }

    func channelInactive(context: ChannelHandlerContext) {
        deadline?.cancel()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch (state, unwrapInboundIn(data)) {
        case (.waiting, .head(let request)):
            guard HealthCheck.contains(request) else {
                refuse(request, context: context)
                return
            }
            state = .answering
            context.fireChannelRead(data)
        case (.answering, .body), (.answering, .end):
            context.fireChannelRead(data)
        default: break
        }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard state == .answering else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        switch unwrapOutboundIn(data) {
        case .head(var response):
            response.headerFields[.connection] = "close"
            context.write(wrapOutboundOut(.head(response)), promise: promise)
        case .body: context.write(data, promise: promise)
        case .end:
            context.writeAndFlush(data, promise: promise)
            end(context: context)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if state == .done, case .inputClosed? = event as? ChannelEvent {
            context.close(promise: nil)
            return
        }
        context.fireUserInboundEventTriggered(event)
    }

    private func refuse(_ request: HTTPRequest, context: ChannelHandlerContext) {
        let body = request.method == .head ? nil : try? Self.refusal.encoded()
        var fields = Self.refusal.headers
        fields[.contentType] = Problem.mediaType
        fields[.contentLength] = "\(body?.readableBytes ?? 0)"
        fields[.connection] = "close"
        context.write(
            wrapOutboundOut(.head(HTTPResponse(status: Self.refusal.status, headerFields: fields))), promise: nil)
        if let body { context.write(wrapOutboundOut(.body(body)), promise: nil) }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        end(context: context)
    }

    /// Closes our direction alone: a close of both while the request still arrives would reset the connection, and the
    /// client might lose the answer.
    private func end(context: ChannelHandlerContext) {
        state = .done
        context.close(mode: .output, promise: nil)
    }
}

/// The requests by which a monitor checks the relay. They are answered even when there is no connection left for
/// others.
enum HealthCheck {
    /// The paths, without a query.
    static let paths = ["/healthz", "/readyz", "/metrics"]

    /// Returns true if a request is one of them.
    static func contains(_ request: HTTPRequest) -> Bool {
        guard request.method == .get || request.method == .head else { return false }
        let path = (request.path ?? "").prefix { $0 != "?" }
        return paths.contains { $0 == path }
    }
}
