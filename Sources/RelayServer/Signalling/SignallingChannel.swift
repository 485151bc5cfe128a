import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import SecureTransport

/// Sets up each connection to the signalling server: admission, TLS if there is any, then HTTP.
struct SignallingChannel: ServerChildChannel {
    typealias Value = HTTP1Channel.Value

    private let connections: ConnectionRegister
    private let certificates: CertificateStore?
    private let served: HTTP1Channel
    private let reserved: HTTP1Channel

    /// - Parameters:
    ///   - connections: Decides how each connection is served.
    ///   - certificates: The certificates for HTTPS; nil for plain HTTP.
    ///   - responder: Answers requests.
    init(
        connections: ConnectionRegister, certificates: CertificateStore?,
        responder: @escaping HTTPChannelHandler.Responder
    ) {
        self.connections = connections
        self.certificates = certificates
        let responder: HTTPChannelHandler.Responder = { request, writer, channel in
            if Self.asksToGoOn(request) { try await writer.writeInformationalHead(HTTPResponse(status: .continue)) }
            try await responder(request, writer, channel)
        }
        served = HTTP1Channel(
            responder: responder,
            configuration: Self.configuration(
                idleTimeout: SignallingLimits.idleTimeout,
                handlers: { [RequestDeadlineHandler(timeout: SignallingLimits.requestTimeout)] }))
        reserved = HTTP1Channel(
            responder: responder,
            configuration: Self.configuration(
                idleTimeout: SignallingLimits.reservedTimeout,
                handlers: { [ReservedConnectionHandler(timeout: SignallingLimits.reservedTimeout)] }))
    }

    /// True if a client waits before it sends a body (RFC 9110, section 10.1.1). One that is larger than all that the
    /// relay takes is refused at once.
    private static func asksToGoOn(_ request: Request) -> Bool {
        request.headers[.expect]?.lowercased() == "100-continue" && request.statedSize <= SignallingLimits.avatarSize
    }

    private static func configuration(
        idleTimeout: TimeAmount, handlers: @escaping @Sendable () -> [any RemovableChannelHandler]
    ) -> HTTP1Channel.Configuration {
        HTTP1Channel.Configuration(
            additionalChannelHandlers: handlers(), idleTimeout: idleTimeout,
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: SignallingLimits.headerSize, maxHeaderListSize: SignallingLimits.headerSize,
                maxHeaderFieldCount: SignallingLimits.headerFieldCount))
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        let decision = connections.open(channel)
        // A setup that fails would end the server, so a connection that is refused is set up too, and then closed.
        if decision == .refused { channel.eventLoop.execute { channel.close(promise: nil) } }
        let http = decision == .served ? served : reserved
        guard let certificates else { return setup(http, channel: channel, logger: logger) }
        return channel.eventLoop.makeCompletedFuture {
            if let connection = try? TLSServerConnection(context: certificates.context) {
                try channel.pipeline.syncOperations.addHandler(TLSServerHandler(connection))
            } else {
                // There is no memory for it.
                channel.eventLoop.execute { channel.close(promise: nil) }
            }
        }.flatMap { setup(http, channel: channel, logger: logger) }
    }

    private func setup(_ http: HTTP1Channel, channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        http.setup(channel: channel, logger: logger).flatMapThrowing { value in
            let pipeline = channel.pipeline.syncOperations
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            try pipeline.addHandler(OldHTTPHandler(), position: .after(decoder))
            return value
        }
    }

    func handle(value: Value, logger: Logger) async {
        await served.handle(value: value, logger: logger)
    }
}
