internal import COpenSSL
internal import NIOCore

/// The connection of libssl to a stream of bytes.
final class StreamBIO: MemoryBIO {
    /// Bytes that wait to be read, set before a call into the library, which reads all of them.
    var incoming = ByteBuffer()
    /// Bytes that wait to be sent.
    private(set) var outgoing = ByteBuffer()
    /// True once the handshake is complete.
    var isEstablished = false
    /// Messages without data, both ways, after the handshake: new keys, refused renegotiations, warnings.
    private var messageCount = 0

    /// An honest client renews its keys after millions of records, if ever. Each message costs far more time than its
    /// bytes do, and some are answered, so that a flood would fill the memory of a connection that nobody reads.
    static let maximumMessageCount = 64

    /// True once there were more messages than an honest client sends. From then on nothing can be read.
    var isFlooded: Bool { messageCount > Self.maximumMessageCount }

    /// The bytes to be sent; nil when there are none.
    func takeOutgoing() -> ByteBuffer? {
        guard outgoing.readableBytes > 0 else { return nil }
        var taken = ByteBuffer()
        swap(&taken, &outgoing)
        return taken
    }

    /// Makes room for protected data.
    func reserve(_ count: Int) { outgoing.reserveCapacity(minimumWritableBytes: count) }

    override func read(into bytes: UnsafeMutableRawBufferPointer) -> Int? {
        guard incoming.readableBytes > 0, !isFlooded else { return nil }
        return incoming.readWithUnsafeReadableBytes { source in
            let count = min(source.count, bytes.count)
            bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: source.prefix(count)))
            return count
        }
    }

    override func write(_ bytes: UnsafeRawBufferPointer) {
        outgoing.writeBytes(bytes)
    }

    /// Counts the messages of an `SSL *` over this BIO, which has to outlive it.
    func countMessages(of ssl: OpaquePointer) {
        shim_SSL_set_msg_callback_arg(ssl, Unmanaged.passUnretained(self).toOpaque())
        SSL_set_msg_callback(ssl) { _, _, type, _, _, _, bio in
            guard type == SSL3_RT_HANDSHAKE || type == SSL3_RT_ALERT, let bio else { return }
            let stream = Unmanaged<StreamBIO>.fromOpaque(bio).takeUnretainedValue()
            if stream.isEstablished { stream.messageCount += 1 }
        }
    }
}
