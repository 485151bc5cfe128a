import MediaCore
import NIOCore
import NIOPosix
import RoomMedia
import SecureTransport

/// The UDP socket that carries all media, read by one event loop.
///
/// Belongs to that event loop: everything but `bind` is called there only.
final class MediaSocket {
    /// Hears of arriving datagrams, on the event loop.
    protocol Receiver: AnyObject, Sendable {
        /// Datagrams came after a silence. `read` hands them out.
        func datagramsCame()
        /// The socket failed and is closed.
        func socketClosed()
    }

    private let channel: any Channel
    private let sender: DatagramSender
    private let handler: Handler
    /// True if the receiver hears of datagrams when they arrive. Otherwise it asks for them.
    private(set) var announcesDatagrams = true

    /// Datagrams taken from the kernel before other work of the loop has its turn.
    static let datagramsPerRead = 256
    /// The requested size of the kernel's buffers in each direction; it may grant less (`net.core.[rw]mem_max`).
    private static let socketBufferSize = 4 << 20

    private init(channel: any Channel, sender: DatagramSender, handler: Handler) {
        self.channel = channel
        self.sender = sender
        self.handler = handler
    }

    /// Opens a channel bound to `address`. It reads nothing until a media socket is made of it.
    static func bind(to address: SocketAddress, on eventLoop: any EventLoop) async throws -> any Channel {
        try await DatagramBootstrap(group: eventLoop)
            .channelOption(
                .recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: DatagramReceiver.datagramCapacity)
            )
            .channelOption(.maxMessagesPerRead, value: 1)
            .channelOption(.autoRead, value: false)
            .channelOption(.socketOption(.so_rcvbuf), value: socketBufferSize)
            .channelOption(.socketOption(.so_sndbuf), value: socketBufferSize)
            .bind(to: address)
            .get()
    }

    /// Takes a bound channel over and starts reading. On the channel's event loop.
    static func start(_ channel: any Channel, receiver: any Receiver) throws -> MediaSocket {
        let pipeline = channel.pipeline.syncOperations
        let descriptor = try pipeline.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { $0 }
        guard let descriptor, let localAddress = channel.localAddress else {
            throw ChannelError.inappropriateOperationForState
        }
        let sender = DatagramSender(
            descriptor: descriptor, isIPv6: localAddress.protocol == .inet6,
            usesSegmentationOffload: System.supportsUDPSegmentationOffload)
        if TransportAddress(localAddress)?.isUnspecified ?? false {
            // An answer has to leave from the address to which the datagram was sent. A socket that is bound to one
            // address has no other.
            try channel.syncOptions?.setOption(.receivePacketInfo, value: true)
        }
        let handler = Handler(receiver: receiver, datagrams: DatagramReceiver(descriptor: descriptor))
        try pipeline.addHandler(handler)
        try channel.syncOptions?.setOption(.autoRead, value: true)
        return MediaSocket(channel: channel, sender: sender, handler: handler)
    }

    /// The datagrams that passed the socket so far.
    var counters: MediaSocketCounters {
        var counters = sender.counters
        counters.datagramsReceived = handler.datagramsReceived
        counters.bytesReceived = handler.bytesReceived
        return counters
    }

    /// Chooses whether the receiver hears of datagrams when they arrive, or asks for them with `read`.
    func setAnnouncesDatagrams(_ announces: Bool) {
        guard announces != announcesDatagrams, channel.isActive else { return }
        announcesDatagrams = announces
        // Fails only for a channel that was closed meanwhile.
        try? channel.syncOptions?.setOption(.autoRead, value: announces)
    }

    /// A function of a datagram, its path and its arrival.
    typealias Taker = (consuming ByteBuffer, NetworkPath, MonotonicInstant) -> Void

    /// Passes the datagrams that wait to `body`, in the order in which they came, and returns their number. A datagram
    /// has no other owner then, so it can be decrypted in place. `body` must not read.
    func read(now: MonotonicInstant, _ body: Taker) -> Int {
        guard channel.isActive else { return 0 }
        return handler.read(now: now, body)
    }

    /// Queues a datagram for the next flush.
    func enqueue(_ datagram: ByteBuffer, on path: NetworkPath) {
        guard channel.isActive else { return }
        sender.enqueue(datagram, on: path)
    }

    /// Sends the queued datagrams.
    func flush() {
        guard channel.isActive else { return }
        sender.flush()
    }

    /// The paths on which nothing can be sent any more, as far as sending has shown since the last call.
    func takeFailedPaths() -> Set<NetworkPath> { sender.takeFailedPaths() }

    /// Closes the socket; the receiver hears nothing more.
    func close() {
        handler.receiver = nil
        channel.close(promise: nil)
    }
}

extension MediaSocket {
    /// Tells the receiver of datagrams. The channel reads the first datagram after a silence, and so tells that there
    /// are some; those behind it are read with their times.
    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = AddressedEnvelope<ByteBuffer>

        var receiver: (any Receiver)?
        var datagramsReceived: UInt64 = 0
        var bytesReceived: UInt64 = 0

        private let datagrams: DatagramReceiver
        /// The datagrams of the present read: at most one of the channel's own, and then those behind it.
        private var batch: [DatagramReceiver.Datagram] = []

        init(receiver: any Receiver, datagrams: DatagramReceiver) {
            self.receiver = receiver
            self.datagrams = datagrams
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let envelope = unwrapInboundIn(data)
            guard let source = TransportAddress(envelope.remoteAddress) else { return }
            let local = (envelope.metadata?.packetInfo?.destinationAddress).flatMap { TransportAddress($0) }
            // A slice without spare capacity: code that writes to it copies the datagram and not the read buffer's
            // share.
            batch.append(
                DatagramReceiver.Datagram(
                    payload: envelope.data.slice(), path: NetworkPath(remote: source, local: local),
                    arrival: SystemMediaClock.shared.now))
        }

        func channelReadComplete(context: ChannelHandlerContext) {
            receiver?.datagramsCame()
        }

        func read(now: MonotonicInstant, _ body: Taker) -> Int {
            let announced = batch.count
            datagrams.read(into: &batch, limit: MediaSocket.datagramsPerRead, now: now)
            if batch.count > announced {
                // The channel does not tell when its datagram came. It was before the next one.
                for index in 0..<announced { batch[index].arrival = batch[announced].arrival }
            }
            let count = batch.count
            datagramsReceived += UInt64(count)
            for index in batch.indices {
                let payload = batch[index].takePayload()
                bytesReceived += UInt64(payload.readableBytes)
                body(consume payload, batch[index].path, batch[index].arrival)
            }
            batch.removeAll(keepingCapacity: true)
            return count
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            // Errors that leave the socket usable: an earlier datagram was refused somewhere. Nothing to do.
        }

        func channelInactive(context: ChannelHandlerContext) {
            receiver?.socketClosed()
        }
    }
}

/// The datagrams that passed the media socket since it was bound.
public struct MediaSocketCounters: Sendable, Equatable {
    /// Datagrams read.
    public var datagramsReceived: UInt64 = 0
    /// Bytes of payload read.
    public var bytesReceived: UInt64 = 0
    /// Datagrams that the kernel took.
    public var datagramsSent: UInt64 = 0
    /// Bytes of payload that the kernel took.
    public var bytesSent: UInt64 = 0
    /// The number of their system calls; one sends several datagrams if the kernel segments.
    public var systemCalls: UInt64 = 0
    /// Datagrams dropped because the socket's send buffer was full.
    public var droppedBufferFull: UInt64 = 0
    /// Datagrams dropped because the kernel refused them: no route, too large, forbidden.
    public var droppedUnsendable: UInt64 = 0
}
