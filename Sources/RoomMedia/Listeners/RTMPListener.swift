package import Logging
import MediaCore
import NIOCore
import NIOPosix
import SecureTransport
import Synchronization

/// Takes streams that are pushed by RTMP: `rtmp://relay/ROOM`, with the stream's key.
package final class RTMPListener: Sendable {
    /// Connections at the same time.
    static let mostConnections = 64

    private let channel: any Channel
    private let connections: Connections

    /// The connections that are open.
    final class Connections: Sendable {
        private let share = Mutex(FairShare<ClientNetwork>(capacity: RTMPListener.mostConnections))
        private let channels = Mutex<[ObjectIdentifier: any Channel]>([:])

        fileprivate func open(_ channel: any Channel, from client: ClientNetwork) -> Bool {
            guard share.withLock({ $0.take(for: client) }) else { return false }
            channels.withLock { $0[ObjectIdentifier(channel)] = channel }
            return true
        }

        fileprivate func closed(_ channel: any Channel, from client: ClientNetwork) {
            channels.withLock { $0[ObjectIdentifier(channel)] = nil }
            share.withLock { $0.giveBack(client) }
        }

        fileprivate func closeAll() {
            for channel in channels.withLock({ $0 }).values { channel.close(promise: nil) }
        }
    }

    /// Listens.
    package static func bind(
        host: String, port: UInt16, admission: any StreamAdmitting, logger: Logger
    ) async throws -> RTMPListener {
        let connections = Connections()
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        RTMPConnectionHandler(admission: admission, connections: connections, logger: logger))
                }
            }
            .bind(host: host, port: Int(port))
            .get()
        return RTMPListener(channel: channel, connections: connections)
    }

    private init(channel: any Channel, connections: Connections) {
        self.channel = channel
        self.connections = connections
    }

    package var port: Int? { channel.localAddress?.port }

    package func close() {
        channel.close(promise: nil)
        connections.closeAll()
    }
}

/// One connection of a publisher.
private final class RTMPConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The time until a connection publishes, and then the longest time without anything.
    private static let patience = TimeAmount.seconds(15)

    private let admission: any StreamAdmitting
    private let connections: RTMPListener.Connections
    private let logger: Logger
    private var session = RTMPSession()
    private var pipe: StreamPipe?
    /// Nil: the connection has no place, or is closed.
    private var address: TransportAddress?
    private var alarm: Scheduled<Void>?
    private var isPublishing = false

    init(admission: any StreamAdmitting, connections: RTMPListener.Connections, logger: Logger) {
        self.admission = admission
        self.connections = connections
        self.logger = logger
    }

    func channelActive(context: ChannelHandlerContext) {
        guard let address = context.remoteAddress.flatMap({ TransportAddress($0) }),
            connections.open(context.channel, from: ClientNetwork(address))
        else {
            context.close(promise: nil)
            return
        }
        self.address = address
        setAlarm(context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        alarm?.cancel()
        pipe?.end()
        if let address { connections.closed(context.channel, from: ClientNetwork(address)) }
        address = nil
    }

    private var host: String { address?.host ?? "" }

    private func setAlarm(_ context: ChannelHandlerContext) {
        alarm?.cancel()
        let channel = context.channel
        alarm = context.eventLoop.scheduleTask(in: Self.patience) { channel.close(promise: nil) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard address != nil else { return }
        if isPublishing { setAlarm(context) }
        let bytes = unwrapInboundIn(data)
        advance(context) { session throws(RTMPError) in try session.receive(bytes) }
    }

    private func advance(
        _ context: ChannelHandlerContext,
        _ step: (inout RTMPSession) throws(RTMPError) -> [RTMPSession.Event]
    ) {
        do throws(RTMPError) {
            perform(try step(&session), context)
        } catch {
            logger.info("RTMP connection ended: it sent \(error)", metadata: ["address": "\(host)"])
            context.close(promise: nil)
        }
    }

    private func perform(_ events: [RTMPSession.Event], _ context: ChannelHandlerContext) {
        for event in events {
            switch event {
            case .send(let bytes): context.write(wrapOutboundOut(bytes), promise: nil)
            case .publish(let application, let key): publish(application, key, context)
            case .media(let bytes):
                guard pipe?.append(bytes) ?? false else {
                    context.close(promise: nil)
                    return
                }
            case .end:
                context.flush()
                context.close(promise: nil)
                return
            }
        }
        context.flush()
    }

    private func publish(_ application: String, _ key: String, _ context: ChannelHandlerContext) {
        setReading(false, context)
        let pipe = StreamPipe()
        self.pipe = pipe
        let channel = context.channel
        pipe.setOnClose { channel.close(promise: nil) }
        let stream = PushedStream(url: "pushed.flv", shown: "rtmp from \(host)", connection: pipe)
        // The room is the last part of the application's path, before any query.
        let path = application.prefix { $0 != "?" }
        let room = path.split(separator: "/").last.map(String.init) ?? ""
        // OBS and others let people put parameters behind the key.
        let key = String(key.prefix { $0 != "?" })
        let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        let (admission, address, eventLoop) = (admission, address, context.eventLoop)
        Task {
            let refusal: String?
            do throws(StreamRefusal) {
                try await admission.admit(stream, room: room, key: key, from: address)
                refusal = nil
            } catch {
                refusal = error.reason
            }
            eventLoop.execute { bound.value.handler.answer(refusal, bound.value.context) }
        }
    }

    private func setReading(_ isReading: Bool, _ context: ChannelHandlerContext) {
        try? context.channel.syncOptions?.setOption(.autoRead, value: isReading)
    }

    private func answer(_ refusal: String?, _ context: ChannelHandlerContext) {
        guard address != nil else { return }
        guard let refusal else {
            isPublishing = true
            setAlarm(context)
            advance(context) { session throws(RTMPError) in try session.accept() }
            setReading(true, context)
            return
        }
        logger.info("RTMP stream refused: \(refusal)", metadata: ["address": "\(host)"])
        perform(session.refuse(refusal), context)
        context.close(promise: nil)
    }
}
