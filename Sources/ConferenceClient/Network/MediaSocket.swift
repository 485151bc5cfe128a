import MediaCore
import NIOCore
import NIOPosix
import SecureTransport

/// A client's UDP socket. Belongs to its event loop.
final class MediaSocket {
    private let channel: any Channel
    /// The one or two addresses that are sent to, in the system's form.
    private var socketAddresses: [TransportAddress: SocketAddress] = [:]

    /// Datagrams that are read before other work of the loop has its turn. Each takes a system call of its own, since
    /// the kernel states the arrival time of the last one only.
    private static let readBatch: UInt = 16
    /// Larger datagrams do not come: the relay sends at most 1200 bytes.
    private static let maximumDatagramSize = 2048

    private init(channel: any Channel) {
        self.channel = channel
    }

    /// Binds a socket to a free port of `host` and passes each datagram to `receive`, on the event loop.
    ///
    /// - Parameters:
    ///   - receive: Receives a datagram, its source, and the time at which the kernel received it.
    ///   - batchEnded: Called after the last datagram of a batch.
    static func bind(
        host: String, on eventLoop: any EventLoop,
        receive: @escaping @Sendable (ByteBuffer, TransportAddress, _ arrival: MonotonicInstant) -> Void,
        batchEnded: @escaping @Sendable () -> Void
    ) async throws -> NIOLoopBound<MediaSocket> {
        let channel = try await DatagramBootstrap(group: eventLoop)
            .channelOption(.socketOption(.so_rcvbuf), value: 1 << 20)
            .channelOption(.socketOption(.so_sndbuf), value: 1 << 20)
            .channelOption(.maxMessagesPerRead, value: readBatch)
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: maximumDatagramSize))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        DatagramHandler(receive: receive, batchEnded: batchEnded))
                }
            }
            .bind(host: host, port: 0).get()
        return try await eventLoop.submit { NIOLoopBound(MediaSocket(channel: channel), eventLoop: eventLoop) }.get()
    }

    /// Returns those of the relay's candidates that a socket bound to `address` can send to, as far as the system knows
    /// without sending: of the same family, and with a route. A datagram to another one would be an error that costs
    /// the socket.
    static func reachable(
        _ candidates: [ICECandidate], from address: TransportAddress, on eventLoop: any EventLoop
    ) async -> [ICECandidate] {
        let fitting = candidates.filter {
            $0.address.isIPv6 == address.isIPv6 && (!address.isLoopback || $0.address.isLoopback)
        }
        var reachable: [ICECandidate] = []
        for candidate in fitting.prefix(ICEControllingAgent.pairLimit) {
            guard let target = candidate.address.socketAddress,
                let channel = try? await DatagramBootstrap(group: eventLoop).connect(to: target).get()
            else { continue }
            try? await channel.close()
            reachable.append(candidate)
        }
        return reachable
    }

    var localAddress: TransportAddress? { channel.localAddress.flatMap { TransportAddress($0) } }

    /// Queues a datagram for the next `flush`.
    func write(_ datagram: ByteBuffer, to address: TransportAddress) {
        guard let target = socketAddress(of: address) else { return }
        channel.write(AddressedEnvelope(remoteAddress: target, data: datagram), promise: nil)
    }

    func flush() { channel.flush() }

    func close() -> EventLoopFuture<Void> { channel.close() }

    private func socketAddress(of address: TransportAddress) -> SocketAddress? {
        if let known = socketAddresses[address] { return known }
        if socketAddresses.count > 16 { socketAddresses.removeAll() }
        let made = address.socketAddress
        socketAddresses[address] = made
        return made
    }
}

/// Hands datagrams on with their senders' addresses.
private final class DatagramHandler: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>

    private let receive: @Sendable (ByteBuffer, TransportAddress, _ arrival: MonotonicInstant) -> Void
    private let batchEnded: @Sendable () -> Void
    private var arrivals: DatagramArrivalClock?
    /// The last sender: nearly always the relay.
    private var lastSender: (system: SocketAddress, transport: TransportAddress)?

    init(
        receive: @escaping @Sendable (ByteBuffer, TransportAddress, _ arrival: MonotonicInstant) -> Void,
        batchEnded: @escaping @Sendable () -> Void
    ) {
        self.receive = receive
        self.batchEnded = batchEnded
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let descriptor = try? context.pipeline.syncOperations.withUnsafeTransportIfAvailable(
            of: NIOBSDSocket.Handle.self
        ) { $0 }
        arrivals = descriptor.map(DatagramArrivalClock.init)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let now = ClientClock.now()
        let arrival = arrivals?.arrival(now: now) ?? now
        let envelope = unwrapInboundIn(data)
        if let lastSender, lastSender.system == envelope.remoteAddress {
            receive(envelope.data, lastSender.transport, arrival)
        } else if let transport = TransportAddress(envelope.remoteAddress) {
            lastSender = (envelope.remoteAddress, transport)
            receive(envelope.data, transport, arrival)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        batchEnded()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // An ICMP error that belongs to an earlier datagram: the media's own timeout decides whether the relay is gone.
    }
}

extension TransportAddress {
    /// The address of a socket; nil for a Unix domain socket.
    init?(_ address: SocketAddress) {
        guard let host = address.ipAddress, let port = address.port.flatMap(UInt16.init(exactly:)) else { return nil }
        self.init(host: host, port: port)
    }

    /// The address for a socket; nil if the system does not take it.
    var socketAddress: SocketAddress? {
        try? SocketAddress(ipAddress: host, port: Int(port))
    }
}
