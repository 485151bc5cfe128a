import NIOCore
import NIOHTTP1

/// Serves clients of HTTP/1.0, such as nginx with its default settings.
///
/// They know no chunks, so an answer of unknown length ends with its connection (RFC 9112, sections 6.1 and 6.3).
final class OldHTTPHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private var isOld = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var request) = unwrapInboundIn(data), request.version == .http1_0 else {
            context.fireChannelRead(data)
            return
        }
        isOld = true
        request.headers.replaceOrAdd(name: "connection", value: "close")
        // An old client does not wait to be told to go on, and would take that for its answer (RFC 9110, 10.1.1).
        request.headers.remove(name: "expect")
        context.fireChannelRead(wrapInboundOut(.head(request)))
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard isOld, case .head(var response) = unwrapOutboundIn(data) else {
            context.write(data, promise: promise)
            return
        }
        // The encoder frames an answer as its version has it.
        response.version = .http1_0
        context.write(wrapOutboundOut(.head(response)), promise: promise)
    }
}
