import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Closes a connection whose request is not received, answered and read by its client within a time. The rest of a
/// request that is answered before its end gets this time again.
///
/// With an idle timeout alone a client could hold a connection for ever by sending, or reading, a byte now and then. A
/// long answer, such as a film, gets this time for each of its parts; an endless one, a stream of events, while there
/// is a part.
final class RequestDeadlineHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let timeout: TimeAmount
    private var requestsInProgress = 0
    /// The end of the newest request is not here.
    private var isReceiving = false
    private var isStreaming = false
    /// Parts of an answer that the client's side has not taken.
    private var partsUnderWay = 0
    private var deadline: Scheduled<Void>?

    init(timeout: TimeAmount) {
        self.timeout = timeout
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            isReceiving = true
            requestsInProgress += 1
            if requestsInProgress == 1 { start(context: context) }
        case .body: break
        case .end:
            isReceiving = false
            if requestsInProgress == 0 { stop() }
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(let head):
            if head.headerFields[.contentType] == ServerSentEvent.mediaType {
                isStreaming = true
                stop()
            }
            context.write(data, promise: promise)
        case .body:
            partsUnderWay += 1
            if isStreaming, partsUnderWay == 1 { start(context: context) }
            write(data, promise: promise, context: context) { $0.partWasTaken(context: context) }
        case .end:
            isStreaming = false
            write(data, promise: promise, context: context) { $0.requestEnded(context: context) }
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        stop()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        stop()
    }

    private func write(
        _ data: NIOAny, promise: EventLoopPromise<Void>?, context: ChannelHandlerContext,
        then next: @escaping (RequestDeadlineHandler) -> Void
    ) {
        let written = promise ?? context.eventLoop.makePromise()
        written.futureResult.assumeIsolated().whenComplete { [self] _ in next(self) }
        context.write(data, promise: written)
    }

    private func partWasTaken(context: ChannelHandlerContext) {
        partsUnderWay = max(0, partsUnderWay - 1)
        stop()
        if partsUnderWay > 0 || !isStreaming, context.channel.isActive { start(context: context) }
    }

    private func requestEnded(context: ChannelHandlerContext) {
        stop()
        partsUnderWay = 0
        requestsInProgress = max(0, requestsInProgress - 1)
        if requestsInProgress > 0 || isReceiving, context.channel.isActive { start(context: context) }
    }

    private func start(context: ChannelHandlerContext) {
        let channel = context.channel
        deadline = context.eventLoop.scheduleTask(in: timeout) { channel.close(promise: nil) }
    }

    private func stop() {
        deadline?.cancel()
        deadline = nil
    }
}
