internal import COpenSSL
internal import NIOCore

/// The connection of libssl to datagrams: a BIO of our own, because the library's memory BIO does not keep datagrams
/// apart.
final class DatagramBIO {
    /// The datagram that waits to be read, set before a call into the library.
    var incoming: ByteBuffer?
    /// The datagrams that wait to be sent, oldest first.
    private(set) var outgoing: [ByteBuffer] = []
    /// The number of datagrams that the library has written.
    private(set) var writtenCount: UInt64 = 0

    /// The largest number of datagrams that wait to be sent, several flights. A further one replaces the oldest, as if
    /// the network had lost it.
    private static let maximumOutgoingCount = 32

    /// The oldest datagram to be sent.
    func takeOutgoing() -> ByteBuffer? {
        outgoing.isEmpty ? nil : outgoing.removeFirst()
    }

    /// A `BIO *` over the memory BIO, which has to outlive it; nil when there is no memory for it.
    func makeBIO() -> OpaquePointer? {
        guard let bio = BIO_new(Self.method.pointer) else { return nil }
        BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
        BIO_set_init(bio, 1)
        return bio
    }

    /// A `BIO_METHOD *`. `@unchecked Sendable`: nothing changes it once it has been made.
    private struct Method: @unchecked Sendable {
        var pointer: OpaquePointer?
    }

    private static let method: Method = {
        let method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "datagram bio")
        BIO_meth_set_read(method) { bio, bytes, capacity in
            shim_BIO_clear_retry_flags(bio)
            guard let memory = DatagramBIO.of(bio), let bytes, capacity > 0 else { return -1 }
            guard let datagram = memory.incoming else {
                shim_BIO_set_retry_read(bio)
                return -1
            }
            memory.incoming = nil
            // The excess is cut off, as with a socket.
            let count = min(datagram.readableBytes, Int(capacity))
            datagram.withUnsafeReadableBytes { source in
                UnsafeMutableRawBufferPointer(start: bytes, count: count).copyMemory(
                    from: UnsafeRawBufferPointer(rebasing: source.prefix(count)))
            }
            return Int32(count)
        }
        BIO_meth_set_write(method) { bio, bytes, count in
            shim_BIO_clear_retry_flags(bio)
            guard let memory = DatagramBIO.of(bio), let bytes, count > 0 else { return -1 }
            memory.write(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
            return count
        }
        BIO_meth_set_ctrl(method) { _, command, _, _ in
            // Everything is written at once. All else (timeouts, path MTU) is for sockets.
            command == BIO_CTRL_FLUSH ? 1 : 0
        }
        return Method(pointer: method)
    }()

    private static func of(_ bio: OpaquePointer?) -> DatagramBIO? {
        BIO_get_data(bio).map { Unmanaged<DatagramBIO>.fromOpaque($0).takeUnretainedValue() }
    }

    private func write(_ bytes: UnsafeRawBufferPointer) {
        if outgoing.count >= Self.maximumOutgoingCount { outgoing.removeFirst() }
        outgoing.append(ByteBuffer(bytes: bytes))
        writtenCount += 1
    }
}
