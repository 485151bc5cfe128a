import MediaCore
import NIOCore
import NIOHTTP1
import NIOPosix

/// Follows the room's events, which tell the size of the client's own tile, when the relay is about to end, and when a
/// moderator ends the call.
extension ClientSession {
    private static let retryInterval = TimeAmount.seconds(2)

    /// True if the sent picture is to be no larger than its tile.
    var followsTile: Bool { videoSender != nil && options.followsDemand }

    /// Connects, and again whenever the connection ends. On the event loop.
    func followRoom() {
        guard !isClosed else { return }
        let receive: @Sendable (EventStreamParser.Event) -> Void = { [weak self] event in self?.take(event) }
        ClientBootstrap(group: eventLoop)
            .connectTimeout(SignallingConnection.connectTimeout)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    try channel.pipeline.syncOperations.addHandler(EventStreamHandler(receive: receive))
                }
            }
            .connect(host: options.url.host, port: options.url.port)
            .whenComplete { [weak self] result in self?.connectedToFeed(result) }
    }

    private func take(_ event: EventStreamParser.Event) {
        if event.name == "moved", !negotiation.alternates.isEmpty { movePromise.succeed(true) }
        if let reason = DismissalEvent.reason(event, of: negotiation.participantID) { end(.dismissed(reason: reason)) }
        guard followsTile, let size = TileEvent.size(event, of: negotiation.participantID) else { return }
        tile = size
    }

    private func connectedToFeed(_ result: Result<any Channel, any Error>) {
        guard case .success(let channel) = result else { return followRoomLater() }
        guard !isClosed else { return channel.close(promise: nil) }
        roomFeed = channel
        let head = Self.eventsRequest(of: negotiation.memberURL(of: options.url))
        channel.write(HTTPClientRequestPart.head(head), promise: nil)
        channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
        channel.closeFuture.whenComplete { [weak self] _ in self?.followRoomLater() }
    }

    static func eventsRequest(of url: RoomURL) -> HTTPRequestHead {
        var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "\(url.path)/events")
        head.headers.add(name: "Host", value: url.authority)
        head.headers.add(name: "User-Agent", value: "confclient")
        if let token = url.token { head.headers.add(name: "Authorization", value: "Bearer \(token)") }
        head.headers.add(name: "Accept", value: "text/event-stream")
        return head
    }

    private func followRoomLater() {
        roomFeed = nil
        guard !isClosed else { return }
        eventLoop.scheduleTask(in: Self.retryInterval) { [weak self] in self?.followRoom() }
    }
}

/// Reads events out of an answer that does not end.
private final class EventStreamHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    private let receive: (EventStreamParser.Event) -> Void
    private var parser = EventStreamParser()
    private var isAccepted = false

    init(receive: @escaping (EventStreamParser.Event) -> Void) {
        self.receive = receive
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            isAccepted = head.status == .ok
        case .body(let bytes):
            guard isAccepted else { return }
            for event in parser.append(bytes) { receive(event) }
        case .end:
            context.close(promise: nil)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
